// Service workers are switched off in guarded contexts.
//
// Chromium makes several requests for a service worker that no session of the DevTools protocol can
// stop (measured with 156): navigation preload (`registration.navigationPreload`), static routes
// that race the network (`event.addRoutes`), update checks of the worker's script, and Background
// Fetch. A page can start each of them, and some of them fetch pages. All of them need a
// registration. The guard therefore fails the request for each worker's script, which makes
// `register()` reject. It also unregisters the workers that were registered before.
import { send, type TargetSession } from './session.ts'

/**
 * Unregisters all service workers of the context that a page's session belongs to. Later
 * navigations bypass them.
 */
export async function unregisterServiceWorkers(session: TargetSession): Promise<void> {
  await send(session, 'Storage.clearDataForOrigin', { origin: '*', storageTypes: 'service_workers' })
}
