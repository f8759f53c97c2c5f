"""Shares the pace of a fleet by Postgres alone: python3 pace.py DSN DELAY_MS URL...

Needs psycopg2. Prints a line of JSON for each request: its URL, its status, and when it was sent.
"""
import json
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import psycopg2

ALLOWANCE_MS = 100  # a request starts at most this long after the call that got its slot
TIMER_MS = 20  # how late a sleeping worker may wake up
MAX_ALLOWANCE_MS = 6002  # of any worker of the fleet: of PostgresPacer by default
BACKOFF = {"firstMs": 5000, "maxMs": 300000, "factor": 2}

connection = psycopg2.connect(sys.argv[1])
connection.autocommit = True  # each call is one transaction
limits = {"ownDelayMs": float(sys.argv[2])}


def call(function, **request):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT politely.{function}(%s::jsonb)", [json.dumps(request)])
        return cursor.fetchone()[0]


def take_slot(key):
    """Waits for the next slot of a key, and returns it."""
    allowances = {"allowanceMs": ALLOWANCE_MS, "timerAllowanceMs": TIMER_MS, "maxAllowanceMs": MAX_ALLOWANCE_MS}
    turn, late = {}, None
    while True:
        called_at = time.monotonic()
        reply = call("reserve", key=key, limits=limits, slot=late, **allowances, **turn)
        late = None
        if reply["kind"] == "wait":
            turn = reply["turn"]
            time.sleep(reply["waitMs"] / 1000)
        elif time.monotonic() - called_at < ALLOWANCE_MS / 1000:
            return reply["slot"]
        else:
            late = reply["slot"]  # the reply took too long: the next call gives the slot back


for url in sys.argv[3:]:
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    slot = take_slot(origin)
    sent = time.time() * 1000
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            status, headers = response.status, response.headers
    except urllib.error.HTTPError as error:
        status, headers = error.code, error.headers
    pushback = None
    if status in (429, 503):
        seconds = headers.get("Retry-After", "")
        pushback = {"requestedMs": int(seconds) * 1000 if seconds.isdigit() else None, "backoff": BACKOFF}
    call("report", key=origin, slot=slot, pushback=pushback)
    print(json.dumps({"url": url, "status": status, "sent": sent}), flush=True)
