import { dirname } from 'node:path'
import type { Vault } from 'pierhead/auth/client'
import { Failure } from './failure.ts'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import { safe } from './safe-text.ts'
import { loginFile, userFolders } from './user-folders.ts'
import { checkLinks } from './write-file.ts'
import { parseUrl } from '../protocol/url.ts'

/** A stored login, without its secrets. */
export interface LoginEntry {
  /** The URL of the server, always as http or https. */
  readonly server: string
  readonly issuer: string
  /** Whom the token is for, as the metadata of the server says; undefined for servers without metadata. */
  readonly resource: string | undefined
  /** The client id that the user gave, if the program did not register itself. */
  readonly clientId: string | undefined
  /** Undefined if the issuer did not say what it granted. */
  readonly scopes: readonly string[] | undefined
  /** When the token expires, in ISO 8601; undefined if the issuer did not say. */
  readonly expiresAt: string | undefined
  /** Whether it can be renewed without the user. */
  readonly isRenewable: boolean
  /** Whether there is a token; otherwise only what the issuer knows of this program is stored. */
  readonly isLoggedIn: boolean
  /** Identifies the token, so that two logins can be told apart. */
  readonly mark: string
}

/** Opens the vault that has the logins of the user; undefined if there is no home folder. */
export async function openLogins(io: Pick<Io, 'env'>, output: Output): Promise<Vault | undefined> {
  const path = loginFile(io.env)
  if (path === undefined) return undefined
  checkLinks(path, userFolders(io.env).home ?? dirname(path), io.env)
  const { fileVault } = await import('pierhead/auth/client')
  return fileVault({ path, warn: (text) => output.warn(safe(text)) })
}

/** The same, for commands that are of no use without it. */
export async function needLogins(io: Pick<Io, 'env'>, output: Output): Promise<Vault> {
  const vault = await openLogins(io, output)
  if (vault !== undefined) return vault
  throw new Failure('there is no home folder to keep logins in', { hint: 'Set HOME to a folder of yours.' })
}

/** The stored logins: of one server, or all. */
export async function loginEntries(vault: Vault, url?: string): Promise<readonly LoginEntry[]> {
  const server = url === undefined ? undefined : serverOf(url)
  const keys = await vault.keys()
  // All at once, so that the vault reads its file once.
  const found = await Promise.all(keys.map((key) => entryAt(vault, key, server)))
  return found.filter((entry) => entry !== undefined)
}

/** The login of a key; undefined if it is not one, or belongs to another server than the given one. */
async function entryAt(
  vault: Vault,
  key: string,
  server: string | undefined,
): Promise<LoginEntry | undefined> {
  const place = readKey(key)
  if (place === undefined || (server !== undefined && place.server !== server)) return undefined
  const stored = await vault.read(key)
  if (stored === undefined) return undefined
  const { tokens } = stored
  return {
    ...place,
    scopes: tokens?.scopes,
    expiresAt: isoTime(tokens?.expiresAt),
    isRenewable: tokens?.refreshToken !== undefined,
    isLoggedIn: tokens !== undefined,
    mark: tokens?.accessToken ?? '',
  }
}

function isoTime(time: number | undefined): string | undefined {
  const date = new Date(time ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** The URL of a server as the keys of a vault have it. */
function serverOf(text: string): string {
  const url = parseUrl(text.replace(/^ws(?=s?:)/i, 'http'))
  return url.origin + url.pathname + url.search
}

/** Reads a key of the vault: the method, the issuer, the resource and the server, without spaces. */
function readKey(key: string): Pick<LoginEntry, 'server' | 'issuer' | 'resource' | 'clientId'> | undefined {
  const [owner = '', issuer, resource, server, more] = key.split(' ').map(decoded)
  const [method, id, ...others] = owner.split(' ').map(decoded)
  if (method !== 'browser' || others.length > 0 || more !== undefined) return undefined
  if (issuer === undefined || resource === undefined || server === undefined) return undefined
  return { server, issuer, resource: resource === '-' ? undefined : resource, clientId: id }
}

function decoded(part: string): string {
  return part.replaceAll('%20', ' ').replaceAll('%25', '%')
}
