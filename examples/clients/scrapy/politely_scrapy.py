"""A downloader middleware that asks a Politely server for a permit before each request of Scrapy."""
import logging, math, re, time  # noqa: E401
from scrapy.exceptions import IgnoreRequest
from scrapy.http import JsonRequest
from twisted.internet.defer import inlineCallbacks
from twisted.internet.task import deferLater
CALL = {"dont_retry": True, "dont_redirect": True, "dont_cache": True, "dont_obey_robotstxt": True, "proxy": None,
        "handle_httpstatus_all": True, "politely": "call"}
LIMITS = r"^age$|^retry-after-ms$|rate-?limit"
class Refused(IgnoreRequest):  # result["verdict"] names the line of robots.txt that decides
    def __init__(self, result):
        super().__init__(f"refused: {result['because']}")
        self.result = result
class PolitelyMiddleware:
    @classmethod
    def from_crawler(cls, crawler):
        self, get = cls(), crawler.settings.get
        self.crawler, self.server = crawler, get("POLITELY_SERVER", "http://127.0.0.1:7420")
        self.headers = {"Authorization": f"Bearer {get('POLITELY_TOKEN')}"} if get("POLITELY_TOKEN") else {}
        lease_ms = min(600_000, 1000 * crawler.settings.getint("DOWNLOAD_TIMEOUT") + 1000)  # no response takes longer
        self.times = {"hold_ms": int(get("POLITELY_HOLD_MS", 0)), "start_within_ms": 100, "lease_ms": lease_ms}
        return self
    @inlineCallbacks
    def process_request(self, request, spider):
        from twisted.internet import reactor  # Scrapy has installed it by now
        one = {"url": request.url}
        while request.meta.get("politely") != "call":
            called_at = time.monotonic()
            result, held_ms = yield self._call("permits", {**self.times, "requests": [one]})
            if result["state"] == "refused": raise Refused(result)
            if result["state"] == "go":
                after_ms = max(0, math.ceil((time.monotonic() - called_at) * 1000) - held_ms)
                request.headers["User-Agent"] = result["user_agent"]
                request.headers["Connection"] = "close"  # Twisted repeats a request if a kept connection breaks
                request.meta["politely"] = {"permit": result["permit"], "sent_after_ms": after_ms}
                if after_ms <= result["start_within_ms"]: return
                yield self._report(request, outcome="not-sent")
            ticket = result.get("ticket", one.get("ticket") if result["state"] == "full" else None)
            one = {"url": request.url, **({"ticket": ticket} if ticket else {})}
            yield deferLater(reactor, result.get("wait_ms", 0) / 1000, lambda: None)
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
        response = yield self.crawler.engine.download(JsonRequest(f"{self.server}/v1/{path}", data=data, **options))
        if response.status != 200: raise RuntimeError(f"{path} of {self.server} answered {response.text}")
        return response.json()["results"][0], response.json().get("held_ms")
