"""A downloader middleware that asks a Politely server for a permit before each request of Scrapy."""
import logging, math, re, time  # noqa: E401
from politely_client import RETRY_PAUSES_S, StartWithin, check_version
from scrapy.exceptions import IgnoreRequest
from scrapy.http import JsonRequest
from twisted.internet.defer import inlineCallbacks
from twisted.internet.task import deferLater
CALL = {"dont_retry": True, "dont_redirect": True, "dont_cache": True, "dont_obey_robotstxt": True, "proxy": None,
        "handle_httpstatus_all": True, "politely": "call"}
LIMITS = r"^age$|^retry-after-ms$|rate-?limit"
class Refused(IgnoreRequest):  # result["verdict"] names the line of robots.txt that decides
    def __init__(self, result):
        super().__init__(f"refused: {result.get('message', result['because'])}")
        self.result = result
def sleep(seconds):
    from twisted.internet import reactor  # Scrapy has installed it by now
    return deferLater(reactor, seconds, lambda: None)
class PolitelyMiddleware:
    @classmethod
    def from_crawler(cls, crawler):
        self, get = cls(), crawler.settings.get
        self.crawler, self.server = crawler, get("POLITELY_SERVER", "http://127.0.0.1:7420")
        self.headers = {"Authorization": f"Bearer {get('POLITELY_TOKEN')}"} if get("POLITELY_TOKEN") else {}
        lease_ms = min(600_000, 1000 * crawler.settings.getint("DOWNLOAD_TIMEOUT") + 1000)  # no response takes longer
        self.times = {"hold_ms": int(get("POLITELY_HOLD_MS", 0)), "lease_ms": lease_ms}
        self.start_within = StartWithin()
        return self
    @inlineCallbacks
    def process_request(self, request, spider):
        one = {"url": request.url}
        while request.meta.get("politely") != "call":
            asked = {**self.times, "start_within_ms": self.start_within.ms, "requests": [one]}
            result, held_ms, called_at = yield self._call("permits", asked)
            if result["state"] == "refused": raise Refused(result)
            if result["state"] == "go":
                after_ms = max(0, math.ceil((time.monotonic() - called_at) * 1000) - held_ms)
                request.headers["User-Agent"] = result["user_agent"]
                request.headers["Connection"] = "close"  # Twisted repeats a request if a kept connection breaks
                request.meta["politely"] = {"permit": result["permit"], "sent_after_ms": after_ms}
                if not self.start_within.is_late(result["start_within_ms"], after_ms): return
                yield self._report(request, outcome="not-sent")
            ticket = None if result["state"] in ("go", "unknown") else result.get("ticket", one.get("ticket"))
            one = {"url": request.url, **({"ticket": ticket} if ticket else {})}
            yield sleep(result.get("wait_ms", 0) / 1000)
    @inlineCallbacks
    def process_response(self, request, response, spider):
        headers = {name.lower(): value for name, value in response.headers.to_unicode_dict().items()}
        limits = {name[:64]: value[:1000] for name, value in headers.items() if re.search(LIMITS, name)}
        retry_after = headers.get("retry-after", "")[:64]
        yield self._report(request, status=response.status, ratelimit=limits, retry_after=retry_after)
        return response
    def process_exception(self, request, exception, spider): return self._report(request, outcome="failed")
    @inlineCallbacks
    def _report(self, request, **report):
        if not isinstance(permit := request.meta.get("politely"), dict): return
        del request.meta["politely"]  # a redirect or a retry copies the others
        try: yield self._call("reports", {"reports": [{**permit, **report}]})
        except Exception as error: logging.warning("no report, so the lease must end: %s", error)
    @inlineCallbacks
    def _call(self, path, data):
        options = {"headers": self.headers, "meta": dict(CALL), "dont_filter": True}
        for pause_s in (*RETRY_PAUSES_S, None):
            called_at = time.monotonic()
            try:
                url = f"{self.server}/v1/{path}"
                response = yield self.crawler.engine.download(JsonRequest(url, data=data, **options))
                if response.status < 500 or pause_s is None: break
            except Exception:
                if pause_s is None: raise
            yield sleep(pause_s)
        check_version(self.server, (response.headers.get("politely-api") or b"").decode() or None)
        if response.status != 200: raise RuntimeError(f"{path} of {self.server} answered {response.text}")
        return response.json()["results"][0], response.json().get("held_ms"), called_at
