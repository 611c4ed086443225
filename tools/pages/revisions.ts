import { readFileSync } from 'node:fs'
import { METHODS, type MethodRow } from '../../src/protocol/methods.ts'
import { LATEST, REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { SWITCHES } from '../../src/protocol/switches.ts'
import type { Lowering } from '../../src/wire/lowering.ts'
import { ALL_CAPABILITIES } from './capabilities.ts'
import { code, docsIn, isAt, page, table } from './markdown.ts'

/** The page about revisions: what each added, the switches, and what older peers receive. */
export function revisionsPage(): string {
  return page(
    'Revisions',
    'A revision is a version of the protocol, named by its date. A server answers every client in the revision that the client speaks; handlers do not depend on it. See also [methods](methods.md) and [capabilities](capabilities.md).',
    '## What each revision added and removed',
    table(
      ['Revision', 'Methods added', 'Methods removed', 'Capabilities added', 'Capabilities removed'],
      REVISIONS.slice(1).map((revision, index) => changesAt(REVISIONS[index] ?? revision, revision)),
    ),
    `The first revision, ${REVISIONS[0]}, has ${countAt(REVISIONS[0])} methods; the newest, ${LATEST}, has ${countAt(LATEST)}.`,
    '## Switches',
    'A switch is a behaviour that differs between revisions. Each is read in one file.',
    switchTable(),
    '## What an older client receives',
    'Inside the package, every value has the form of the newest revision. For an older client it is lowered one revision at a time; each table lists the changes of one step, which apply on top of the steps before it. Everything else stays unchanged.',
    ...REVISIONS.slice(0, -1).toReversed().flatMap(loweringPart),
  )
}

function changesAt(before: Revision, revision: Revision): readonly string[] {
  const methods = Object.entries<MethodRow>(METHODS)
  const capabilities = Object.entries(ALL_CAPABILITIES)
  return [
    revision,
    names(methods.filter(([, row]) => !isAt(row, before) && isAt(row, revision))),
    names(methods.filter(([, row]) => isAt(row, before) && !isAt(row, revision))),
    names(capabilities.filter(([, row]) => !isAt(row, before) && isAt(row, revision))),
    names(capabilities.filter(([, row]) => isAt(row, before) && !isAt(row, revision))),
  ]
}

function names(entries: readonly (readonly [string, unknown])[]): string {
  return entries.map(([name]) => code(name)).join(', ')
}

function countAt(revision: Revision): number {
  return Object.values<MethodRow>(METHODS).filter((row) => isAt(row, revision)).length
}

function switchTable(): string {
  const docs = docsIn(sourceOf('protocol/switches.ts'))
  return table(
    ['Switch', 'Meaning', ...REVISIONS, 'Read in'],
    Object.entries(SWITCHES).map(([name, { at, reader }]) => [
      code(name),
      docs.get(name) ?? '',
      ...at.map((value) => (typeof value === 'boolean' ? (value ? 'yes' : 'no') : value)),
      code(reader),
    ]),
  )
}

/** The shapes of a lowering, by their name in the code. */
// oxfmt-ignore
const SHAPES: Partial<Readonly<Record<keyof Lowering, string>>> = {
  supportsUrl:        'Request to visit a URL',
  implementation:     'Server or client info',
  capabilities:       'Server capabilities',
  clientCapabilities: 'Client capabilities',
  tool:               'Tool',
  resource:           'Resource',
  template:           'Resource template',
  prompt:             'Prompt',
  hints:              'Lists and reads',
  content:            'Content block',
  contents:           'Resource contents',
  callResult:         'Tool result',
  task:               'Task',
  complete:           'Completion request',
  progress:           'Progress',
  elicit:             'Form',
  elicitAnswer:       'Answer to a form',
  sample:             'Sampling request',
  sampleResult:       'Answer from the model',
  root:               'Root',
}

function loweringPart(revision: Revision): readonly string[] {
  const docs = new Map(
    ['lower.ts', 'lower-client.ts'].flatMap((file) => [...docsIn(sourceOf(`wire/${revision}/${file}`))]),
  )
  const rows = Object.entries(SHAPES).flatMap(([shape, words]) => {
    const sentence = docs.get(shape)
    return sentence === undefined ? [] : [[words, sentence]]
  })
  return [`### To ${revision}`, table(['Shape', 'Change'], rows)]
}

function sourceOf(file: string): string {
  return readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8')
}
