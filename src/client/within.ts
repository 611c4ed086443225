/** Whether a URI is the parent itself or lies below it. A slash at the end makes no difference. */
export function isWithin(uri: string, parent: string): boolean {
  return folderOf(uri).startsWith(folderOf(parent))
}

/** A URI with a slash at its end. */
export function folderOf(uri: string): string {
  return uri.endsWith('/') ? uri : `${uri}/`
}
