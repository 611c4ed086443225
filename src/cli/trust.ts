import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path'
import type { Io } from './io.ts'
import { shellWord } from './shell-word.ts'

/** The variable with the folders of other users that the user trusts, separated as in PATH. */
const TRUST_VARIABLE = 'PIERHEAD_TRUST'

/** The variables that decide whom the command trusts, for programs that are this command again. */
export function trustVariables(env: Io['env']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [TRUST_VARIABLE, 'SUDO_UID'].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  )
}

/** A file, folder or link that belongs to another user, who decides what a path leads to. */
export interface ForeignPart {
  readonly path: string
  readonly owner: number
}

export interface TrustOptions {
  readonly env: Io['env']
  /** Another owner who is trusted: that of a program that the user named. */
  readonly also?: number | undefined
}

const MOST_LINKS = 40

/**
 * The first part of the way from a folder to a path that belongs to neither the user nor the administrator; undefined if there is none.
 * The folder itself counts. Links are followed one by one, and where one leads out of the folder, the whole way to its target counts.
 * Windows has no such owners.
 */
export function foreignPart(
  path: string,
  root: string,
  { env, also }: TrustOptions,
): ForeignPart | undefined {
  const user = process.getuid?.()
  if (user === undefined) return undefined
  const named = trustedFolders(env)
  const tops = [realPlace(root), ...named]
  const from = isWithin(root, path) ? join(realPlace(root), relative(root, path)) : path
  for (const part of partsOf(from, tops)) {
    if (named.some((folder) => isWithin(folder, part.path))) continue
    if (!isTrusted(part.facts.uid, user, env) && part.facts.uid !== also)
      return { path: part.path, owner: part.facts.uid }
  }
  return undefined
}

/** The same where the way has a link, which somebody else may have made; undefined if it has none. */
export function foreignLink(path: string, root: string, options: TrustOptions): ForeignPart | undefined {
  const real = realPlace(path)
  const isPlain = real === (isWithin(root, path) ? join(realPlace(root), relative(root, path)) : path)
  return isPlain ? undefined : foreignPart(path, root, options)
}

/** Whether an owner of files is the user, the administrator, or the user who became the administrator with sudo. */
export function isTrusted(owner: number, user: number, env: Io['env']): boolean {
  const sudo = env['SUDO_UID'] ?? ''
  return owner === user || owner === 0 || (user === 0 && /^\d+$/.test(sudo) && owner === Number(sudo))
}

/** The owner of a file that the user named; undefined if it does not exist. */
export function ownerOf(file: string): number | undefined {
  return factsOf(file)?.uid
}

/** Who a part belongs to, in a sentence about a file. */
export function ownedText(file: string, { path, owner }: ForeignPart): string {
  return `${path === file ? 'it' : path} belongs to another user (uid ${owner})`
}

/** The setting with which a part is trusted. */
export function trustHint({ path }: ForeignPart): string {
  return `${TRUST_VARIABLE}=${shellWord(path)}`
}

/** Whether a path is a folder, or in it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return !isAbsolute(way) && way.split(sep)[0] !== '..'
}

/** The folders that the user trusts whoever owns them. A relative path would depend on where the command is run. */
function trustedFolders(env: Io['env']): readonly string[] {
  return (env[TRUST_VARIABLE] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .flatMap((folder) => [resolve(folder), realPlace(resolve(folder))])
}

interface Part {
  readonly path: string
  readonly facts: Stats
}

/** What is on the way to a path, with what links lead to. The way begins at one of the given folders, or at the root of the file system, which is left out. */
function* partsOf(
  path: string,
  tops: readonly string[],
  links: { left: number } = { left: MOST_LINKS },
): Generator<Part> {
  const top = tops.find((folder) => isWithin(folder, path))
  let current = top ?? parse(path).root
  const first = top === undefined ? undefined : factsOf(top)
  if (first !== undefined) yield { path: current, facts: first }
  for (const name of relative(current, path).split(sep).filter(Boolean)) {
    current = join(current, name)
    const facts = factsOf(current)
    if (facts === undefined) return
    yield { path: current, facts }
    if (!facts.isSymbolicLink()) continue
    if (links.left-- <= 0) return
    const target = resolve(dirname(current), readlinkSync(current))
    yield* partsOf(target, tops, links)
    current = realPlace(target)
  }
}

function factsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/** Where a path really is, as far as it exists. */
function realPlace(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPlace(parent), relative(parent, path))
  }
}
