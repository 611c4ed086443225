import { textBytes } from '../../../base/weight.ts'
import type { KnownChange } from '../../../nodes/recent-changes.ts'
import type { Node } from '../../../nodes/node.ts'
import { Steps } from '../../../nodes/steps.ts'
import type { EventRoom } from '../../../rpc/event-store.ts'
import type { Session } from '../../../rpc/session.ts'
import type { Notice, SessionContents } from '../../../rpc/session-fields.ts'
import { encodeNotification } from '../../../wire/encode.ts'
import { MarkedText } from './marked-text.ts'
import { STANDALONE } from './sessions.ts'

export interface NoticeWriterOptions {
  readonly node: Node
  readonly contents: SessionContents
  readonly session: Session
  readonly room: EventRoom
  /** The position of the last change that the client need not be notified of. */
  readonly after: number
  onError(error: unknown): void
  /** Called when all changes up to a position are in the stream, which is far from the one that the session has. */
  onMoved(position: number): void
}

type Step = () => Promise<void>

/** How far behind a session may be before its position is noted: nodes remember more messages than that, and so does the bus. */
const FAR = 1000

/** How many notifications of changes wait while the store is away. Beyond that, they are made again from the changes. */
const MOST_WAITING = 100

/**
 * Adds the notifications of one session to its stream in the store. Every node with a replica of the session does so, and the store
 * takes only the first one for each position.
 */
export class NoticeWriter {
  readonly #options: NoticeWriterOptions
  readonly #steps: Steps
  /** All changes up to here are in the stream. */
  #after: number
  #isOpen = false
  /** The steps that have not begun: those that add changes, and those that add messages of this node, with their bytes. */
  readonly #changes = new Set<Step>()
  readonly #messages = new Map<Step, number>()
  #messageBytes = 0

  constructor(options: NoticeWriterOptions) {
    this.#options = options
    this.#after = options.after
    this.#steps = new Steps((error) => options.onError(error))
  }

  /** How many steps wait for the store. */
  get waiting(): number {
    return this.#steps.size
  }

  /** Adds a notification; those without a position are added by this node only. */
  add(text: string, position: number | undefined): void {
    if (position === undefined) return this.#addMessage(text)
    if (this.#changes.size < MOST_WAITING) return this.#addChange(() => this.#append(text, position))
    for (const step of this.#changes) this.#steps.remove(step)
    this.#changes.clear()
    this.catchUp(position)
  }

  /** Adds the notifications of all changes up to a position that are not in the stream. */
  catchUp(upTo: number): void {
    this.#addChange(() => this.#catchUp(upTo))
  }

  /** Prolongs the life of the stream in the store, or begins it. */
  touch(): void {
    this.#isOpen = false
    if (this.#steps.size === 0) this.#steps.add(() => this.#open())
  }

  /** Begins the stream, unless it exists. */
  async open(): Promise<void> {
    await this.#open()
  }

  done(): Promise<void> {
    return this.#steps.done()
  }

  stop(): void {
    this.#steps.stop()
  }

  #addChange(act: () => Promise<void>): void {
    const step = (): Promise<void> => {
      this.#changes.delete(step)
      return act()
    }
    this.#changes.add(step)
    this.#steps.add(step)
  }

  #addMessage(text: string): void {
    const { node, session, room } = this.#options
    const marked = new MarkedText(text, node.number)
    const step = async (): Promise<void> => {
      this.#leaves(step)
      await this.#open()
      await marked.add({ events: node.stores.events, session: session.id, room })
    }
    const bytes = textBytes(text)
    this.#messages.set(step, bytes)
    this.#messageBytes += bytes
    // The stream would discard the oldest, too.
    for (const oldest of this.#messages.keys()) {
      if (this.#messages.size <= room.events && this.#messageBytes <= room.bytes) break
      if (oldest === step) break
      this.#leaves(oldest)
      this.#steps.remove(oldest)
    }
    this.#steps.add(step)
  }

  /** A message does not wait any longer. */
  #leaves(step: Step): void {
    this.#messageBytes -= this.#messages.get(step) ?? 0
    this.#messages.delete(step)
  }

  async #open(): Promise<void> {
    if (this.#isOpen) return
    const { node, session, room } = this.#options
    await node.stores.events.open(session.id, STANDALONE, '', room)
    this.#isOpen = true
  }

  async #append(text: string, position: number): Promise<void> {
    const { node, session, room } = this.#options
    await this.#open()
    await node.stores.events.append(session.id, STANDALONE, { text, position }, room)
    this.#after = Math.max(this.#after, position)
  }

  async #catchUp(upTo: number): Promise<void> {
    const { node, contents, session } = this.#options
    const first = this.#options.after
    if (upTo <= this.#after) return
    // The stream may have much more than the session says.
    if (node.hasForgotten(this.#after)) this.#after = Math.max(this.#after, await this.#inStream())
    const changes = await node.changesAfter(this.#after, upTo)
    const notices =
      changes === undefined
        ? spread(contents.allNotices(session), this.#after, upTo)
        : changes.flatMap((change) => placed(contents, session, change))
    if (notices.length > 0) {
      const done = await this.#inStream()
      for (const { method, params, position } of notices)
        if (position > done) await this.#append(encodeNotification(method, params, session.dialect), position)
    }
    this.#after = Math.max(this.#after, upTo)
    if (upTo - first > FAR) this.#options.onMoved(upTo)
  }

  /** The position of the last change that is in the stream. */
  async #inStream(): Promise<number> {
    const { node, session } = this.#options
    return (await node.stores.events.position(session.id, STANDALONE)) ?? 0
  }
}

type Placed = Notice & { readonly position: number }

function placed(
  contents: SessionContents,
  session: Session,
  { change, position }: KnownChange,
): readonly Placed[] {
  const notice = contents.noticeOf(session, change)
  return notice === undefined ? [] : [{ ...notice, position }]
}

/** Notices of everything that may have changed between two positions, each with a position of its own. */
function spread(notices: readonly Notice[], after: number, upTo: number): readonly Placed[] {
  const step = Math.min(1, (upTo - after) / notices.length)
  return notices.map((notice, at) => ({ ...notice, position: upTo - (notices.length - 1 - at) * step }))
}
