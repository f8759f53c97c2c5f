"""What the clients for requests and Scrapy have in common. It needs no other module."""
API_VERSION = "1.1.0"  # of the server's /openapi.json, and of this package
MAX_START_WITHIN_MS = 1_000  # of the server
RETRY_PAUSES_S = (0.25, 1, 3)  # before a call is sent again that was not delivered, or that got a 5xx


class WrongVersion(Exception):
    """The server speaks another version of the API."""


def check_version(server, version):
    """Raises WrongVersion for another major version. `version`: the header politely-api of an answer."""
    if version is not None and version.split(".")[0] != API_VERSION.split(".")[0]:
        raise WrongVersion(
            f"the server {server} speaks version {version} of the API, and this politely-client {API_VERSION}; "
            f"install the politely-client from the same version of Politely as the server"
        )


class StartWithin:
    """How long after its grant a request may be sent: `ms`, in milliseconds.

    A late permit doubles it. After 20 permits in a row that took less than half of it, it is halved.
    """

    def __init__(self, first_ms=100):
        self.ms = self.first_ms = first_ms
        self.early = 0

    def is_late(self, granted_ms, after_ms):
        """Whether a permit for `granted_ms` is too old after `after_ms`."""
        if after_ms > granted_ms:
            if granted_ms >= self.ms:  # permits that were asked for before the last change say nothing new
                self.ms = max(self.ms, min(2 * self.ms, MAX_START_WITHIN_MS))
            self.early = 0
            return True
        self.early = self.early + 1 if 2 * after_ms < self.ms else 0
        if self.early >= 20:
            self.ms, self.early = max(self.first_ms, self.ms // 2), 0
        return False
