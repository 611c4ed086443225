import { Answers } from './answers.ts'
import { FIRST_ID, INITIALIZED, type Revision, callText, initializeText, numbered } from './messages.ts'
import { answer } from './orders.ts'

/** What a process that holds both a server and its client can be asked to do. */
export interface InProcessOrders {
  readonly open: { readonly subject: string; readonly revision: Revision }
  readonly call: { readonly seconds: number }
}

/** One round in process. */
export interface InProcessRound {
  readonly count: number
  readonly seconds: number
}

interface End {
  send(text: string): unknown
}

interface SubjectModule {
  connect(receive: (text: string) => void): End | Promise<End>
}

const SERIES = 8192
const WINDOW = 64
const STALL_MS = 10_000

const answers = new Answers(SERIES)
let texts: readonly string[] = []
let end: End | undefined
let next = 0
let open = 0
let receive: (text: string) => void = () => {}
let wake: () => void = () => {}
let failed: Error | undefined

answer<InProcessOrders>({ open: openSubject, call: callForAWhile })

async function openSubject({ subject, revision }: InProcessOrders['open']): Promise<void> {
  const module = (await import(subject)) as SubjectModule
  end = await module.connect((text) => receive(text))
  if (revision === '2025-11-25') await initialize(end)
  receive = take
  texts = Array.from({ length: SERIES }, (_, index) => callText(numbered(index), revision))
}

async function initialize(to: End): Promise<void> {
  const answered = new Promise<string>((done) => (receive = done))
  await to.send(initializeText(FIRST_ID - 1))
  await answered
  await to.send(INITIALIZED)
}

function take(text: string): void {
  try {
    answers.take(text, 0, text.length)
  } catch (error) {
    failed ??= error as Error
  }
  if (--open === 0) wake()
}

/** Sends a window of calls, waits until all are answered, and begins again. */
async function callForAWhile({ seconds }: InProcessOrders['call']): Promise<InProcessRound> {
  const to = end
  if (!to) throw new Error('no subject is open')
  const start = performance.now()
  const until = start + seconds * 1000
  let count = 0
  do {
    open = WINDOW
    for (let sent = 0; sent < WINDOW; sent++) {
      answers.expect(next)
      void to.send(texts[next] as string)
      next = (next + 1) % SERIES
    }
    if (open > 0) await drained()
    if (failed) throw failed
    count += WINDOW
  } while (performance.now() < until)
  clearTimeout(stalled)
  stalled = undefined
  return { count, seconds: (performance.now() - start) / 1000 }
}

let stalled: NodeJS.Timeout | undefined

/** Waits for the last answer of the window; one timer for the round guards against a server that never answers. */
async function drained(): Promise<void> {
  stalled ??= setTimeout(() => {
    failed ??= new Error('an answer did not come in time')
    wake()
  }, STALL_MS)
  stalled.refresh()
  await new Promise<void>((done) => (wake = done))
}

process.on('disconnect', () => process.exit(0))
