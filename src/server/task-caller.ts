import { soon } from '../base/soon.ts'
import { anonymousNetwork, ownerOf, type Call } from '../rpc/call.ts'
import type { Session } from '../rpc/session.ts'
import type { TaskCaller } from '../tasks/plan.ts'
import type { Soon } from '../tasks/store.ts'
import { digestOf } from './state.ts'

/** The names of sessions, of which each is made once. */
const names = new WeakMap<Session, string>()

/** Whose tasks a call may use. Callers that cannot be told apart have the empty owner. */
export function taskOwnerOf({ source }: Call): string {
  if (source.auth !== undefined) return ownerOf(source.auth)
  return source.isParent === true ? 'local' : ''
}

/** Whether the tasks of a caller can have keys and lists. */
export function hasScope(call: Call): boolean {
  return taskOwnerOf(call) !== '' || call.peer.session !== undefined
}

/** Whose task a call would create, and which lists and keys it has. */
export function callerOf(call: Call): Soon<TaskCaller> {
  const owner = taskOwnerOf(call)
  if (owner !== '' || call.source.auth !== undefined) return { owner, scope: owner }
  const { session } = call.peer
  const network = anonymousNetwork(call.source)
  if (session === undefined) return { owner, scope: '', network }
  return soon(nameOf(session), (scope) => ({ owner, scope, network }))
}

/** A session is the same at every node. Its id is a secret, and random, so its digest is a name that tells nobody the id. */
function nameOf(session: Session): Soon<string> {
  const known = names.get(session)
  if (known !== undefined) return known
  return digestOf(`tasks of session ${session.id}`).then((digest) => {
    const name = `session ${digest}`
    names.set(session, name)
    return name
  })
}
