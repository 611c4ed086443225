/** Whether a resource is another one, or lies below it and so belongs to it. */
export function isWithin(uri: string, whole: string): boolean {
  return uri === whole || uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`)
}
