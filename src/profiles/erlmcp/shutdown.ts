import type { Choices } from '../../protocol/choices.ts'
import type { Route } from '../routes.ts'

/** `shutdown`: what the client sends after it is refused. Over HTTP a session is ended with DELETE all the same. */
export function shutdown(choices: Choices): readonly (readonly [string, Route])[] {
  if (choices.shutdown !== 'answered') return []
  return [
    [
      'shutdown',
      (call) => {
        call.channel.refuseFurther?.()
        return {}
      },
    ],
  ]
}
