"""The Streamlit app on top of :mod:`evaluation`."""
