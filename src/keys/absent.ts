import { badOption } from '../base/options.ts'

/** Replaces `createKeys` on runtimes without files. */
export function createKeys(): never {
  throw badOption('createKeys', 'it stores keys in a file, which this runtime does not have')
}

/** Replaces `pinKey` on runtimes without files. */
export function pinKey(): never {
  throw badOption('pinKey', 'it stores keys in a file, which this runtime does not have')
}

/** Replaces `allowKeys` on runtimes without stdio. */
export function allowKeys(): never {
  throw badOption('allowKeys', 'it is for servers on stdio, which this runtime does not have')
}
