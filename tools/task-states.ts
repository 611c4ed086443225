import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { TRANSITIONS, type TaskEvent } from '../src/tasks/states.ts'

const GUIDE = fileURLToPath(new URL('../docs/guides/tasks.md', import.meta.url))
const FENCE = /(?<=<!-- states: tsx tools\/task-states\.ts -->\n\n)```mermaid\n(?:(?!```).*\n)*```/

/** What each event is for people. */
const WORDS: Readonly<Record<TaskEvent, string>> = {
  ask: 'the handler asks',
  answer: 'answered, or given up',
  progress: 'progress',
  attempt: 'another attempt begins',
  return: 'the handler returns',
  fail: 'an error after the last attempt',
  cancel: 'cancelled',
  release: 'waits for another attempt',
}

/** The states of a task and their transitions as a diagram, drawn from the table. */
export function statesDiagram(): string {
  const arrows = Object.entries(TRANSITIONS).flatMap(([from, events]) => {
    const targets = [...new Set(Object.values(events))]
    return targets.map((to) => `  ${from} --> ${to}: ${wordsOf(events, to)}`)
  })
  return [
    '```mermaid',
    'stateDiagram-v2',
    '  [*] --> working: the call becomes a task',
    ...arrows,
    '```',
  ].join('\n')
}

function wordsOf(events: object, to: string): string {
  return Object.entries(events)
    .filter(([, target]) => target === to)
    .map(([event]) => WORDS[event as TaskEvent])
    .join('; ')
}

/** The text of the guide with the diagram of the table. */
export function withDiagram(text: string): string {
  return text.replace(FENCE, () => statesDiagram())
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(GUIDE, withDiagram(readFileSync(GUIDE, 'utf8')))
