// Everything that `@politely/crawlee` offers, and nothing else.
export {}
