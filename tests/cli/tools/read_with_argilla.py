"""Reads records and settings with Argilla's SDK and writes the records again, as its own export does.

The SDK asks a server who is there before it makes anything; this one answers nothing else.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import argilla as rg


class Nobody(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        user = {"id": "00000000-0000-4000-8000-000000000000", "username": "owner", "first_name": "O", "role": "owner"}
        body = json.dumps(user | {"inserted_at": "2026-01-01T00:00:00", "updated_at": "2026-01-01T00:00:00"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


server = HTTPServer(("127.0.0.1", 0), Nobody)
threading.Thread(target=server.serve_forever, daemon=True).start()
rg.Argilla(api_url=f"http://127.0.0.1:{server.server_port}", api_key="none")

records_path, settings_path = sys.argv[1:]
settings = rg.Settings.from_json(settings_path)
settings.validate()
dataset = rg.Dataset(name="games", settings=settings)
with open(records_path, encoding="utf-8") as source:
    records = [rg.Record.from_dict(one, dataset=dataset) for one in json.load(source)]
told = {
    "questions": {question.name: question.required for question in settings.questions},
    "fields": [field.name for field in settings.fields],
    # What the SDK sends to a server: identifiers that are no UUID are refused here.
    "sent": [record.api_model().model_dump(mode="json") for record in records],
    "records": [record.to_dict() for record in records],
}
print(json.dumps(told, default=str))
