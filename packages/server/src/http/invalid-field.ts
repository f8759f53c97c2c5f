// Says which field of a call is invalid, what it is, and what the server expects, from what ajv found.
import { nearestName } from '@politely/core/review'
import { describeValue } from '@politely/fetcher/internal'
import type { FastifySchemaValidationError } from 'fastify'

/** What a schema says of one field, as far as the messages name it. */
interface FieldSchema {
  readonly type?: string
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxLength?: number
  readonly maxProperties?: number
  readonly anyOf?: readonly FieldSchema[]
  readonly properties?: Readonly<Record<string, FieldSchema>>
}

/** What ajv finds with its option `verbose`: also the value, and the schema of the field. */
type Found = FastifySchemaValidationError & { readonly parentSchema?: FieldSchema; readonly data?: unknown }

/**
 * Describes what ajv found, such as `body.hold_ms: "1" is not an integer from 0 to 20000`.
 * @param context The part of the call: `body` or `querystring`.
 */
export function describeInvalidField(found: readonly FastifySchemaValidationError[], context: string): string {
  // The last error is about the whole field, if there are several alternatives.
  const { instancePath, keyword, params, parentSchema: schema = {}, data, message } = found.at(-1) as Found
  const path = `${context === 'querystring' ? 'query' : context}${dotted(instancePath)}`
  const names = Object.keys(schema.properties ?? {})
  switch (keyword) {
    case 'additionalProperties': {
      const name = `${params.additionalProperty}`
      const nearest = nearestName(name, names)
      const hint = nearest === undefined ? 'the' : `did you mean ${nearest}? The`
      return `${path}.${name.slice(0, 100)} is unknown; ${hint} fields are ${listed(names, 'and')}`
    }
    case 'required': {
      const name = `${params.missingProperty}`
      return `${path}.${name} is missing; expected ${described(schema.properties?.[name])}`
    }
    case undefined:
      return `${path} ${message}`
    default:
      return data === undefined || data === null
        ? `${path} is missing; expected ${described(schema)}`
        : `${path}: ${shown(data)} is not ${described(schema)}`
  }
}

/** `/requests/0/url` as a program writes it: `.requests[0].url`. */
function dotted(instancePath: string): string {
  return instancePath.replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.')
}

function shown(data: unknown): string {
  if (Array.isArray(data)) return `a list of ${data.length} items`
  return typeof data === 'string' && data.length > 100 ? `a text of ${data.length} characters` : describeValue(data)
}

/** Describes the values that a schema allows, such as `an integer from 0 to 20000`. */
function described({ type, const: value, anyOf, ...bounds }: FieldSchema = {}): string {
  if (anyOf !== undefined) return listed(anyOf.map(described), 'or')
  if (value !== undefined) return JSON.stringify(value)
  const { minimum, maximum, minItems, maxItems, maxLength, maxProperties, properties } = bounds
  switch (type) {
    case 'integer':
    case 'number':
      return `${type === 'integer' ? 'an integer' : 'a number'}${rangeText(minimum, maximum)}`
    case 'string':
      return `a text${maxLength === undefined ? '' : ` of at most ${maxLength} characters`}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return `a list of ${minItems ?? 0} to ${maxItems ?? 'any number of'} items`
    default:
      if (properties !== undefined) return `an object with ${listed(Object.keys(properties), 'and')}`
      return maxProperties === undefined ? 'an object' : `an object of at most ${maxProperties} fields`
  }
}

function rangeText(min: number | undefined, max: number | undefined): string {
  return `${min === undefined ? '' : ` from ${min}`}${max === undefined ? '' : ` to ${max}`}`
}

function listed(words: readonly string[], last: 'and' | 'or'): string {
  const [end = 'none', ...rest] = words.toReversed()
  return rest.length === 0 ? end : `${rest.toReversed().join(', ')} ${last} ${end}`
}
