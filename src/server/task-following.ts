import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isFinal } from '../protocol/task-status.ts'
import type { Peer } from '../rpc/call.ts'
import type { TaskHead } from '../tasks/record.ts'
import type { Tasks } from '../tasks/tasks.ts'
import { detailed } from './task-methods.ts'

/** Notifies a client of the changes of tasks: at once of each new status, and of other changes no more often than it may poll. */
export function followTasks(
  tasks: Tasks,
  heads: readonly TaskHead[],
  peer: Pick<Peer, 'dialect'>,
  notify: (task: JsonObject) => void,
): () => void {
  const stops = heads.map((head) => followTask(tasks, head, peer, notify))
  return () => {
    for (const stop of stops) stop()
  }
}

function followTask(
  tasks: Tasks,
  first: TaskHead,
  peer: Pick<Peer, 'dialect'>,
  notify: (task: JsonObject) => void,
): () => void {
  const { clock } = tasks
  let sent = first
  let sentAt = Number.NEGATIVE_INFINITY
  let timer: unknown
  let isBusy = false
  let isAgain = false
  // A client that listens for a task that needs it, or has ended, learns that at once.
  let isNew = first.status !== 'working'
  const unfollow = tasks.followers.add(first.id, () => void check())
  const stop = (): void => {
    unfollow()
    clock.clear(timer)
  }
  // It may have changed before.
  void check()
  return stop

  async function check(): Promise<void> {
    isAgain = true
    if (isBusy) return
    isBusy = true
    try {
      while (isAgain) {
        isAgain = false
        await look()
      }
    } catch (error) {
      tasks.reportFailure(error)
    } finally {
      isBusy = false
    }
  }

  async function look(): Promise<void> {
    const head = await tasks.find(first.id, first.owner)
    if (head === undefined) return stop()
    if (head.version === sent.version && !isNew) return
    const wait = sentAt + head.pollMs - clock.now()
    if (head.status === sent.status && !isNew && wait > 0) {
      timer ??= clock.after(wait, () => {
        timer = undefined
        void check()
      })
      return
    }
    isNew = false
    sent = head
    sentAt = clock.now()
    notify(await detailed(tasks, head, peer))
    if (isFinal(head.status)) stop()
  }
}
