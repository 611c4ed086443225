/* Errors of stores. */

export const STORE_CLOSED = {
  kind: 'store_closed',
  where: 'local',
  code: -32000,
  text: 'this store is closed',
  hint: 'Close the store after the servers that use it, and open another one to go on.',
} as const
