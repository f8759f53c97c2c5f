// The public API of `@politely/otel`.

export type { OriginLabelOptions, PolitelyInstrumentationConfig } from './config.ts'
export { PolitelyInstrumentation } from './instrumentation.ts'
