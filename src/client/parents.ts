import { firstFrom, folderOf } from './within.ts'

interface Place {
  readonly uri: string
  readonly folder: string
  /** The nearest of the others that it lies within. */
  above: Place | undefined
}

/** Some URIs, arranged so that finding those that another URI lies within does not mean looking at all of them. */
export class Parents {
  readonly #places: readonly Place[]
  readonly #folders: readonly string[]

  constructor(uris: readonly string[]) {
    const places: Place[] = uris.map((uri) => ({ uri, folder: folderOf(uri), above: undefined }))
    this.#places = places.sort((left, right) => compare(left.folder, right.folder))
    this.#folders = places.map(({ folder }) => folder)
    // A folder comes right before everything within it.
    let last: Place | undefined
    for (const place of this.#places) {
      while (last !== undefined && !place.folder.startsWith(last.folder)) last = last.above
      place.above = last
      last = place
    }
  }

  /** Those that a URI lies within, the nearest first. */
  *of(uri: string): Generator<string, void, undefined> {
    const folder = folderOf(uri)
    // The last one whose folder does not come after this.
    let place = this.#places[firstFrom(this.#folders, `${folder}\0`) - 1]
    // Each place above is the beginning of the one below, so that its length alone decides.
    const same = place === undefined ? 0 : sameLength(place.folder, folder)
    for (; place !== undefined; place = place.above) if (place.folder.length <= same) yield place.uri
  }
}

/** How many characters at the beginning of two texts are the same. */
function sameLength(one: string, other: string): number {
  let at = 0
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at
}

function compare(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}
