import type { HeapEntry } from '../base/heap.ts'
import type { TaskHead } from '../tasks/record.ts'
import type { OwnTasks } from '../tasks/store.ts'
import { TurnHeap } from './turn-heap.ts'

/** Tasks that wait for a node, by server and tool, and by their callers and the time from which a node may run them. */
export class WaitingTasks<Item> {
  readonly #works = new Map<string, TurnHeap<Item>>()
  #claims = 0

  add({ server, tool, network, scope, dueAt }: TaskHead, item: Item): HeapEntry<Item> {
    const name = workOf(server, tool)
    let heap = this.#works.get(name)
    if (heap === undefined) this.#works.set(name, (heap = new TurnHeap()))
    return heap.add(network || scope, dueAt, item)
  }

  remove({ server, tool, network, scope }: TaskHead, entry: HeapEntry<Item>): void {
    const name = workOf(server, tool)
    const heap = this.#works.get(name)
    heap?.remove(network || scope, entry)
    if (heap?.isEmpty === true) this.#works.delete(name)
  }

  /** Calls `take` with at most `limit` tasks that are due; that removes each. Callers take turns for each tool, and tools among each other. */
  each(own: OwnTasks, now: number, limit: number, take: (item: Item) => void): void {
    const names = own.tools.flatMap((tool) => [...new Set([workOf('', tool), workOf(own.server, tool)])])
    const all = names.flatMap((name) => this.#works.get(name) ?? [])
    const first = all.length === 0 ? 0 : this.#claims++ % all.length
    let works = [...all.slice(first), ...all.slice(0, first)]
    for (let left = limit; left > 0 && works.length > 0;)
      works = works.filter((heap) => {
        const item = left > 0 ? heap.next(now) : undefined
        if (item === undefined) return false
        left--
        take(item)
        return true
      })
  }
}

/** The work that a task needs, as one text. */
function workOf(server: string, tool: string): string {
  return JSON.stringify([server, tool])
}
