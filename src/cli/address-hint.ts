import type { McpError } from 'pierhead/client'
import { EXIT } from './exit.ts'
import { Failure, wrongConfig, wrongUsage } from './failure.ts'
import type { ResolvedTarget } from './target.ts'
import { parseUrl } from '../protocol/url.ts'

/** What a command throws, with what to do if the URL of its target is the reason. Other errors stay. */
export function withAddressHint(
  thrown: McpError,
  { target, from, file = '', label }: ResolvedTarget,
): unknown {
  const { kind, message, data } = thrown
  if (!('url' in target)) return thrown
  if (kind === 'bad_option' && /credentials.*URL/.test(message))
    return from === 'configuration'
      ? wrongConfig(
          `${file}: the URL of the server "${label.slice(0, 80)}" has a user and a password`,
          'Put them into a header: "headers": { "Authorization": "Basic …" }.',
        )
      : wrongUsage(
          'the URL has a user and a password',
          "Pass them in a header: --header 'Authorization: Basic …'.",
        )
  const { status } = (data ?? {}) as { readonly status?: unknown }
  if (kind === 'http_failed' && typeof status === 'number' && status >= 300 && status < 400)
    return new Failure(message, {
      hint: 'Use the address that it redirects to, if you trust it.',
      exit: EXIT.unreachable,
      cause: thrown,
    })
  if (kind === 'connect_failed' && message.endsWith(': bad port'))
    return new Failure(
      message.replace(
        /bad port$/,
        `fetch, which the command uses, blocks port ${parseUrl(String(target.url)).port}`,
      ),
      {
        hint: 'Let the server listen on another port. Web clients block ports that other protocols use, such as 25 for mail.',
        exit: EXIT.unreachable,
        cause: thrown,
      },
    )
  return thrown
}
