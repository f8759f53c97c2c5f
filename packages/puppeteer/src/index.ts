// Everything that `@politely/puppeteer` offers, and nothing else.
export {}
