// Service workers are switched off in polite contexts.
//
// Chromium makes several requests for a service worker that no session of the DevTools protocol can stop (measured with 156):
// navigation preload (`registration.navigationPreload`), static routes that race the network (`event.addRoutes`), update checks of the
// worker's script, and Background Fetch. A page can call for each of them, and some of them fetch pages. None of them happens without a
// registration. So the guard fails the request for each worker's script, which rejects `register()`, and workers that were registered
// before are unregistered.
import { type DriverSession, send } from './session.ts'

/** Unregisters all service workers of the context that a page's session belongs to. They answer no later navigation. */
export async function unregisterServiceWorkers(session: DriverSession): Promise<void> {
  await send(session, 'Storage.clearDataForOrigin', { origin: '*', storageTypes: 'service_workers' })
}
