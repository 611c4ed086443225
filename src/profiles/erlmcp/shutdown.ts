import type { Choices } from '../../protocol/choices.ts'
import type { Route } from '../routes.ts'

/** `shutdown`: rejects everything that the client sends afterwards. Over HTTP, a session still ends with DELETE. */
export function shutdown(choices: Choices): readonly (readonly [string, Route])[] {
  if (choices.shutdown !== 'answered') return []
  return [
    [
      'shutdown',
      (call) => {
        call.channel.rejectFurther?.()
        return {}
      },
    ],
  ]
}
