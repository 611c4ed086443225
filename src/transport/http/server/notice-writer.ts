import { endOfTurn, nextTurn } from '../../../base/turn.ts'
import { textBytes } from '../../../base/weight.ts'
import type { KnownChange } from '../../../nodes/recent-changes.ts'
import type { AllChanged } from '../../../nodes/node-options.ts'
import type { Node } from '../../../nodes/node.ts'
import { Steps } from '../../../nodes/steps.ts'
import type { EventRoom } from '../../../rpc/event-store.ts'
import type { Session } from '../../../rpc/session.ts'
import type { Notice, SessionContents } from '../../../rpc/session-fields.ts'
import type { Soon } from '../../../rpc/soon.ts'
import { encodeNotification } from '../../../wire/encode.ts'
import type { NoticeBudget, NoticeStream } from '../../io/notice-budget.ts'
import { MarkedText } from './marked-text.ts'
import { STANDALONE } from './sessions.ts'

export interface NoticeWriterOptions {
  readonly node: Node
  readonly contents: SessionContents
  readonly session: Session
  /** The caller or the network that the session is counted with. */
  readonly countedFor: string
  readonly room: EventRoom
  readonly budget: NoticeBudget
  /** Whether the budget counts what is added now. */
  isCounted(): boolean
  /** The position of the last change that the client need not be notified of. */
  readonly after: number
  onError(error: unknown): void
  /** Called when all changes up to a position are in the stream, which is far from the one that the session has. */
  onMoved(position: number): void
}

type Step = () => Promise<void>

/** How far behind a session may be before its position is noted: nodes remember more messages than that, and so does the bus. */
const FAR = 1000

/** How many notifications of changes wait while the store is away, and how many bytes they have. Beyond that, they are made again from the changes. */
const [MOST_WAITING, MOST_BYTES] = [100, 16_384]

/**
 * Adds the notifications of one session to its stream in the store. Every node with a replica of the session does so, and the store
 * takes only the first one for each position.
 */
export class NoticeWriter {
  readonly #options: NoticeWriterOptions
  readonly #steps: Steps
  readonly #stream: NoticeStream
  /** All changes up to here are in the stream. */
  #after: number
  #isOpen = false
  /** The steps that have not begun: those that add changes, and those that add messages of this node, with their bytes. */
  readonly #changes = new Map<Step, number>()
  #changeBytes = 0
  readonly #messages = new Map<Step, number>()
  #messageBytes = 0

  constructor(options: NoticeWriterOptions) {
    this.#options = options
    this.#after = options.after
    const { events } = options.node.stores
    const session = options.session.id
    this.#stream = {
      session,
      caller: options.countedFor,
      trim: (before) => events.trim(session, STANDALONE, before),
    }
    this.#steps = new Steps((error) => options.onError(error))
  }

  /** How many steps wait for the store. */
  get waiting(): number {
    return this.#steps.size
  }

  /** Says that the client need not be notified of changes up to a position, or that they are in the stream. */
  begin(position: number): void {
    this.#after = Math.max(this.#after, position)
  }

  /** Adds a notification; those without a position are added by this node only. */
  add(text: string, position: number | undefined): void {
    if (position === undefined) return this.#addMessage(text)
    const bytes = textBytes(text)
    const isMuch = this.#changes.size > 0 && this.#changeBytes + bytes > MOST_BYTES
    if (this.#changes.size < MOST_WAITING && !isMuch)
      return this.#addChange(() => this.#append(text, position), bytes)
    for (const step of this.#changes.keys()) this.#steps.remove(step)
    this.#changes.clear()
    this.#changeBytes = 0
    this.catchUp(position)
  }

  /** Adds the notifications of all changes up to a position that are not in the stream. */
  catchUp(upTo: number): void {
    this.#addChange(() => this.#catchUp(upTo))
  }

  /** Adds notifications of everything that a session watches, and of all changes that the node has missed. Most sessions watch nothing. */
  allChanged(...[upTo, lost, hasMissed]: AllChanged): void {
    const { contents, session } = this.#options
    const isMeant = hasMissed || lost.some((which) => contents.allNotices(session, which).length > 0)
    if (isMeant) this.catchUp(upTo)
  }

  /** Prolongs the life of the stream in the store, or begins it. */
  touch(): void {
    this.#isOpen = false
    this.#options.budget.touch(this.#stream.session, this.#options.room)
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

  #addChange(act: () => Promise<void>, bytes = 0): void {
    const step = (): Promise<void> => {
      // It runs again if the store fails.
      if (this.#changes.delete(step)) this.#changeBytes -= bytes
      return act()
    }
    this.#changes.set(step, bytes)
    this.#changeBytes += bytes
    this.#steps.add(step)
  }

  #addMessage(text: string): void {
    const { node, session, room } = this.#options
    const marked = new MarkedText(text, node.number)
    const step = async (): Promise<void> => {
      this.#leaves(step)
      await this.#open()
      await this.#keep(text, (granted) =>
        marked.add({ events: node.stores.events, session: session.id, room: granted }),
      )
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
    const { node, session } = this.#options
    await this.#open()
    await this.#keep(text, (room) =>
      node.stores.events.append(session.id, STANDALONE, { text, position }, room),
    )
    this.#after = Math.max(this.#after, position)
  }

  /** Adds an event with the room that is left for the caller. */
  async #keep(text: string, append: (room: EventRoom) => Soon<number | undefined>): Promise<void> {
    const { budget, room } = this.#options
    await (this.#options.isCounted() ? budget.add(this.#stream, text, room, append) : append(room))
  }

  async #catchUp(upTo: number): Promise<void> {
    const { node, contents, session } = this.#options
    const first = this.#options.after
    if (upTo <= this.#after) return
    // The stream may have much more than the session says.
    if (node.hasForgotten(this.#after)) this.#after = Math.max(this.#after, await this.#inStream())
    const { changes, lost } = await node.changesAfter(this.#after, upTo)
    const known = await this.#placed(changes)
    const others = lost.flatMap((which) => contents.allNotices(session, which))
    const notices = [...known, ...spread(others, this.#after, upTo, changes)].sort(byPosition)
    if (notices.length > 0) {
      const done = await this.#inStream()
      for (const { method, params, position } of notices)
        if (position > done) await this.#append(encodeNotification(method, params, session.dialect), position)
    }
    this.#after = Math.max(this.#after, upTo)
    if (upTo - first > FAR) this.#options.onMoved(upTo)
  }

  /** The notices of changes. There may be very many, so others get a turn meanwhile. */
  async #placed(changes: readonly KnownChange[]): Promise<readonly Placed[]> {
    const { contents, session } = this.#options
    const notices: Placed[] = []
    let end = endOfTurn()
    for (const { change, position } of changes) {
      const notice = contents.noticeOf(session, change)
      if (notice !== undefined) notices.push({ ...notice, position })
      if (performance.now() > end) end = await nextTurn()
    }
    return notices
  }

  /** The position of the last change that is in the stream. */
  async #inStream(): Promise<number> {
    const { node, session } = this.#options
    return (await node.stores.events.position(session.id, STANDALONE)) ?? 0
  }
}

type Placed = Notice & { readonly position: number }

function byPosition(one: Placed, other: Placed): number {
  return one.position - other.position
}

/** Notices of what may have changed between two positions, each with a position of its own, which none of the known changes has. */
function spread(
  notices: readonly Notice[],
  after: number,
  upTo: number,
  known: readonly KnownChange[],
): readonly Placed[] {
  // Known changes have whole numbers.
  const last = known.at(-1)?.position === upTo ? upTo - 0.5 : upTo
  const step = Math.min(0.4, last - after) / notices.length
  return notices.map((notice, at) => ({ ...notice, position: last - (notices.length - 1 - at) * step }))
}
