import type * as crypto from 'node:crypto'
import type * as fs from 'node:fs'
import type * as module from 'node:module'
import type * as path from 'node:path'

interface Builtins {
  readonly 'node:crypto': typeof crypto
  readonly 'node:fs': typeof fs
  readonly 'node:module': typeof module
  readonly 'node:path': typeof path
  /** Since Node 22.13; our types are those of Node 20. */
  readonly 'node:sqlite': { readonly DatabaseSync?: unknown }
}

/** A module of Node; undefined on runtimes without it. An import would fail there, even for users of other stores. */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } }
  return process?.getBuiltinModule?.(name) as Builtins[Name] | undefined
}
