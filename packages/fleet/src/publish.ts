// Publishes messages on channels of `node:diagnostics_channel`.
import { channel } from 'node:diagnostics_channel'

/** Makes no message if the channel has no subscribers. */
export function publish<T extends object>(name: string, message: T): void {
  const target = channel(name)
  if (target.hasSubscribers) target.publish(message)
}
