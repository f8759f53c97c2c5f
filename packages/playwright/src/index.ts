// Everything that `@politely/playwright` offers, and nothing else.
export {}
