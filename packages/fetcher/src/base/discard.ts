/**
 * Discards the rest of a body, which may have failed already. Of two copies of a body, an unread
 * copy keeps in memory what the other copy reads, and `cancel` of one does not resolve before the
 * other is cancelled or read.
 */
export async function discard(body: object | null | undefined): Promise<void> {
  const { cancel, destroy } = (body ?? {}) as { cancel?(): Promise<void>; destroy?(): void }
  if (typeof cancel === 'function')
    await cancel.call(body).catch(() => undefined) // rejects while it is being read
  else destroy?.call(body)
}
