/** Whether a URI is the parent itself or lies below it. */
export function isWithin(uri: string, parent: string): boolean {
  return uri === parent || uri.startsWith(parent.endsWith('/') ? parent : `${parent}/`)
}
