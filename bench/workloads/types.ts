import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../tools/run.ts'
import type { Sample, Workload } from '../measure.ts'
import { LIMIT, OURS, type Subject, TMCP, V1, V2 } from '../subjects.ts'
import { type Library, serverText } from '../types-source.ts'

const FOLDER = '.cache/bench-types'
/** The same tools, defined as one map. */
const OURS_MAP: Subject = { ...OURS, name: 'pierhead, defineTools' }
const LIBRARIES: ReadonlyMap<Subject, Library> = new Map([
  [LIMIT, 'schemas'],
  [OURS, 'pierhead'],
  [OURS_MAP, 'pierhead-map'],
  [V1, 'v1'],
  [V2, 'v2'],
  [TMCP, 'tmcp'],
])

/** The work of the compiler on a generated server with many tools; the limit is the schemas alone. */
export const typeCost: Workload = {
  name: 'types',
  run: async (plan, log) => {
    rmSync(FOLDER, { recursive: true, force: true })
    mkdirSync(FOLDER, { recursive: true })
    return plan.typeCounts.flatMap((tools) =>
      [...LIBRARIES].flatMap(([subject, library]) => {
        const { instantiations, types } = check(library, tools)
        log(`${subject.name}, ${tools} tools: ${instantiations} instantiations, ${types} types`)
        const work = `type check, ${tools} tools of five fields with outputs`
        return [
          { work, subject, value: instantiations, unit: 'instantiations', better: 'less', busy: false },
          { work, subject, value: types, unit: 'types', better: 'less', busy: false },
        ] satisfies readonly Sample[]
      }),
    )
  },
}

function check(library: Library, tools: number): { readonly instantiations: number; readonly types: number } {
  const file = join(FOLDER, `${library}-${tools}.ts`)
  writeFileSync(file, serverText(library, tools))
  const flags = [
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--singleThreaded',
    '--extendedDiagnostics',
    '--ignoreConfig',
  ]
  const target = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node']
  const output = run(process.execPath, ['node_modules/typescript/bin/tsc', ...flags, ...target, file])
  const count = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(output)?.[1])
  return { instantiations: count('Instantiations'), types: count('Types') }
}
