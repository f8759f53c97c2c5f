// Replaces permit/sent-requests.ts in runtimes without sockets. No request shows when it is sent
// there, so a request counts as sent when it starts.

export function observeSentRequests(): void {}
