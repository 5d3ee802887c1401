"""The parts of pages that Streamlit has no widget for, and small compositions of its widgets."""
