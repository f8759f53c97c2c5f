"""Crawls the URLs of stdin with requests, and prints what the tests need."""
import json
import os
import sys
import time

import requests
from requests.adapters import HTTPAdapter

server = os.environ["POLITELY_SERVER"]
send = HTTPAdapter.send


def send_and_tell(self, request, **kwargs):
    if not request.url.startswith(server):
        print(json.dumps({"sent": time.time() * 1000, "url": request.url}))
    return send(self, request, **kwargs)


HTTPAdapter.send = send_and_tell
from politely_requests import PoliteAdapter, Refused  # noqa: E402

session = requests.Session()
session.trust_env = False
session.mount("http://", PoliteAdapter(server, token=os.environ["POLITELY_TOKEN"], hold_ms=400))
for url in sys.stdin.read().split():
    try:
        response = session.get(url, timeout=60)
        outcome = f"{response.status_code} {response.text}"
    except Refused as error:
        outcome = f"refused {error.because} {error.verdict['rule']['line']}"
    except requests.ConnectionError:
        outcome = "failed"
    print(json.dumps({"outcome": outcome, "url": url}), flush=True)
