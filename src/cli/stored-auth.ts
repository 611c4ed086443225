import type { ClientAuth } from 'pierhead/client'
import type { Flags } from './command.ts'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import type { ResolvedTarget } from './target.ts'

/** How to authenticate to a URL: the token in PIERHEAD_TOKEN, or the stored login. */
export async function authOf(
  _resolved: ResolvedTarget,
  _flags: Flags,
  io: Io,
  _output: Output,
): Promise<ClientAuth | undefined> {
  const secret = io.env['PIERHEAD_TOKEN']
  if (secret === undefined || secret === '') return undefined
  const { token } = await import('pierhead/auth/client')
  return token(() => secret)
}
