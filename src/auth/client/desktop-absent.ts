import { badOption } from '../../base/options.ts'

/** Replaces the port for answers on runtimes that cannot listen. */
export function openLoopback(): never {
  const remedy = 'pass redirectUri, and open, a function that returns the URL to which the user was sent'
  throw badOption('browser', `this runtime cannot listen for the answer to a login; ${remedy}`)
}

/** Replaces the program that opens pages on runtimes that start none. */
export function showPage(): never {
  throw badOption('browser', 'this runtime cannot open pages; pass open, a function that does')
}
