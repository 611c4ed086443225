/** A URI with a slash at its end. */
export function folderOf(uri: string): string {
  return uri.endsWith('/') ? uri : `${uri}/`
}

/** The index of the first of some sorted texts that does not come before this one. Those that begin with it follow from there. */
export function firstFrom(sorted: readonly string[], text: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as string) < text) low = middle + 1
    else high = middle
  }
  return low
}
