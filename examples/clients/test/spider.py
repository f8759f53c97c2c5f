"""Crawls the URLs of stdin with Scrapy, and prints what the tests need."""
import json
import os
import sys
import time

import scrapy
from politely_scrapy import Refused
from scrapy import signals


class CasesSpider(scrapy.Spider):
    name = "cases"
    custom_settings = {
        "DOWNLOADER_MIDDLEWARES": {"politely_scrapy.PolitelyMiddleware": 995},
        "POLITELY_SERVER": os.environ["POLITELY_SERVER"],
        "POLITELY_TOKEN": os.environ["POLITELY_TOKEN"],
        "POLITELY_HOLD_MS": 400,
        "ROBOTSTXT_OBEY": False,
        "RETRY_ENABLED": False,  # the cases want the first response
        "HTTPERROR_ALLOW_ALL": True,
        "CONCURRENT_REQUESTS": 100,
        "TELNETCONSOLE_ENABLED": False,
        "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
    }

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.tell, signal=signals.request_reached_downloader)
        return spider

    def tell(self, request, spider):
        if not request.url.startswith(os.environ["POLITELY_SERVER"]):
            print(json.dumps({"sent": time.time() * 1000, "url": request.url}), flush=True)

    def start_requests(self):
        for url in sys.stdin.read().split():
            yield scrapy.Request(url, self.parse, errback=self.fail, dont_filter=True, meta={"case": url})

    def parse(self, response):
        self.end(response.meta["case"], f"{response.status} {response.text if response.body else ''}")

    def fail(self, failure):
        error = failure.value
        verdict = error.result["verdict"] if isinstance(error, Refused) else None
        outcome = f"refused {verdict['because']} {verdict['rule']['line']}" if verdict else "failed"
        self.end(failure.request.meta["case"], outcome)

    def end(self, url, outcome):
        print(json.dumps({"outcome": outcome, "url": url}), flush=True)
