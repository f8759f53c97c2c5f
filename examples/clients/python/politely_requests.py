"""Lets requests ask a Politely server for a permit before each request, and before each hop of a redirect."""
import logging, math, re, time, requests  # noqa: E401
from politely_client import RETRY_PAUSES_S, StartWithin, WrongVersion, check_version
from requests.adapters import HTTPAdapter

LIMITS = r"^age$|^retry-after-ms$|rate-?limit"

class Refused(requests.RequestException):
    """The URL must not be requested. `verdict` names the line of robots.txt that decides."""
    def __init__(self, result, request):
        super().__init__(f"{request.url}: {result.get('message', result['because'])}", request=request)
        self.because, self.verdict, self.retry_at = result["because"], result["verdict"], result.get("retry_at")

class PoliteAdapter(HTTPAdapter):
    """`for scheme in ("http://", "https://"): session.mount(scheme, PoliteAdapter())`"""
    def __init__(self, server="http://127.0.0.1:7420", token=None, hold_ms=1000, start_within_ms=100, lease_ms=60_000):
        super().__init__()
        self.server = server
        self.options = {"hold_ms": hold_ms, "lease_ms": lease_ms}
        self.start_within = StartWithin(start_within_ms)
        self.calls = requests.Session()
        self.calls.trust_env = False  # a proxy or a .netrc is meant for the sites, not for the server
        self.calls.headers.update({"Authorization": f"Bearer {token}"} if token else {})

    def send(self, request, **kwargs):
        permit, request.headers["User-Agent"], sent_after_ms = self._permit(request)
        sent_at = time.monotonic()
        try: response = super().send(request, **kwargs)
        except BaseException:
            self._report(permit=permit, outcome="failed", sent_after_ms=sent_after_ms)
            raise
        limits = {name[:64]: value[:1000] for name, value in response.headers.lower_items() if re.search(LIMITS, name)}
        report = {"permit": permit, "status": response.status_code, "sent_after_ms": sent_after_ms, "ratelimit": limits}
        if "Retry-After" in response.headers: report["retry_after"] = response.headers["Retry-After"][:64]
        release = response.raw.release_conn
        def end():  # called when the body has ended, and when the response is closed
            release()
            if report: self._report(**report, took_ms=math.ceil((time.monotonic() - sent_at) * 1000))
            report.clear()
        response.raw.release_conn = end
        return response

    def _permit(self, request, ticket=None):
        while True:
            one = {"url": request.url, **({"ticket": ticket} if ticket else {})}
            asked = {**self.options, "start_within_ms": self.start_within.ms, "requests": [one]}
            answer, called_at = self._call("permits", asked)
            result = answer["results"][0]
            if result["state"] == "refused": raise Refused(result, request)
            if result["state"] == "go":
                after_ms = max(0, math.ceil((time.monotonic() - called_at) * 1000) - answer["held_ms"])
                is_late = self.start_within.is_late(result["start_within_ms"], after_ms)
                if not is_late: return result["permit"], result["user_agent"], after_ms
                self._report(permit=result["permit"], outcome="not-sent")
            ticket = None if result["state"] in ("go", "unknown") else result.get("ticket", ticket)
            time.sleep(result.get("wait_ms", 0) / 1000)
    def _report(self, **report):
        try: self._call("reports", {"reports": [report]})
        except (requests.RequestException, WrongVersion) as error: logging.warning("no report, so the lease must end: %s", error)
    def _call(self, path, body):
        timeout_s = self.options["hold_ms"] / 1000 + 30
        for pause_s in (*RETRY_PAUSES_S, None):
            called_at = time.monotonic()
            try:
                response = self.calls.post(f"{self.server}/v1/{path}", json=body, timeout=timeout_s)
                if response.status_code < 500 or pause_s is None: break
            except requests.RequestException:
                if pause_s is None: raise
            time.sleep(pause_s)
        check_version(self.server, response.headers.get("politely-api"))
        if not response.ok: raise requests.HTTPError(f"{response.url}: {response.text}", response=response)
        return response.json(), called_at
