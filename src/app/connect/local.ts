import { isCommand, type CommandTarget, type LocalServer } from '../../client/target.ts'
import type { ClientLimits } from '../../protocol/client-limits.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'
import { checkApplicable } from './applicable.ts'
import type { ConnectOptions } from './connect.ts'

/** Creates the function that connects to a server in this process, or starts a server program. */
export async function openLocalTransport(
  target: CommandTarget | LocalServer,
  options: ConnectOptions,
  limits: ClientLimits,
): Promise<OpenTransport> {
  checkApplicable(target, options)
  if (!isCommand(target)) {
    const { connectMemory } = await import('../../transport/memory/client.ts')
    return connectMemory(target, { limits })
  }
  const { connectStdio } = await import('#stdio')
  const keys = options.keys ?? target.keys
  return connectStdio({ ...target, inherit: options.inherit, limits }, { ...options, keys })
}
