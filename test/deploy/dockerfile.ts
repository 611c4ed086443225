import { execFile } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** An instruction of a Dockerfile, such as `COPY`, and the rest of its line. */
export interface Instruction {
  readonly name: string
  readonly rest: string
}

/** The instructions of a Dockerfile whose lines are whole. */
export function readDockerfile(path: string): readonly Instruction[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? []
      if (name === undefined || rest === undefined || rest.endsWith('\\'))
        throw new Error(`not a whole instruction: ${line}`)
      return { name, rest }
    })
}

/** The image that a Dockerfile describes, as a folder. */
export interface Image {
  /** The image that it begins with. */
  readonly from: string
  /** The folder that stands for `/`. */
  readonly root: string
  /** Where commands run, below the root. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  readonly port: number
  readonly command: readonly string[]
  readonly health: readonly string[]
}

interface Stage {
  from: string
  root: string
  folder: string
  env: Record<string, string>
  user: string
  port: number
  command: readonly string[]
  health: readonly string[]
}

/**
 * Does what the instructions of a Dockerfile say, without Docker: every stage is a folder below `place`, and commands run with the given
 * Node in front of all others.
 */
export async function buildImage(
  instructions: readonly Instruction[],
  { context, place, node }: { readonly context: string; readonly place: string; readonly node: string },
): Promise<Image> {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const { name, rest } of instructions) {
    if (name === 'FROM') {
      const [from = '', , alias = `stage ${stages.size}`] = rest.split(' ')
      const root = join(place, alias)
      stages.set(
        alias,
        (stage = { from, root, folder: root, env: {}, user: 'root', port: 0, command: [], health: [] }),
      )
      continue
    }
    if (stage === undefined) throw new Error(`${name} before FROM`)
    const act = ACTIONS[name]
    if (act === undefined) throw new Error(`the instruction ${name} is not known here`)
    await act(stage, rest, { context, stages, node })
  }
  if (stage === undefined) throw new Error('the Dockerfile has no stage')
  return stage
}

interface Place {
  readonly context: string
  readonly stages: ReadonlyMap<string, Stage>
  readonly node: string
}

type Action = (stage: Stage, rest: string, place: Place) => void | Promise<void>

const ACTIONS: Readonly<Record<string, Action>> = {
  WORKDIR: (stage, rest) => {
    stage.folder = join(stage.root, rest)
    mkdirSync(stage.folder, { recursive: true })
    for (let path = stage.folder; path !== dirname(stage.root); path = dirname(path)) chmodSync(path, 0o755)
  },
  ENV: (stage, rest) => {
    const [, name, value] = /^(\w+)=(\S*)$/.exec(rest) ?? []
    if (name === undefined || value === undefined) throw new Error(`not a variable: ${rest}`)
    stage.env[name] = value
  },
  COPY: (stage, rest, { context, stages }) => {
    const words = rest.split(' ')
    const from = words[0]?.startsWith('--from=') === true ? words.shift()!.slice('--from='.length) : undefined
    const target = join(stage.folder, words.pop()!)
    const source = from === undefined ? context : stages.get(from)?.root
    if (source === undefined) throw new Error(`there is no stage ${from}`)
    for (const path of words) {
      const whole = join(source, path)
      if (!existsSync(whole)) throw new Error(`there is no file ${path} to copy`)
      // The contents of a folder are copied, but a file as a whole.
      const isFolder = from !== undefined
      cpSync(whole, isFolder ? target : join(target, basename(path)), {
        recursive: true,
        verbatimSymlinks: true,
      })
    }
  },
  RUN: async (stage, rest, { node }) => {
    await run('sh', ['-ec', rest], { cwd: stage.folder, env: environment(stage.env, node), timeout: 120_000 })
  },
  USER: (stage, rest) => void (stage.user = rest),
  EXPOSE: (stage, rest) => void (stage.port = Number(rest)),
  CMD: (stage, rest) => void (stage.command = JSON.parse(rest) as readonly string[]),
  HEALTHCHECK: (stage, rest) => {
    const at = rest.indexOf('CMD ')
    for (const option of rest.slice(0, at).trim().split(' '))
      if (!/^--(interval|timeout|start-period)=\d+s$|^--retries=\d+$/.test(option))
        throw new Error(`not an option of HEALTHCHECK: ${option}`)
    stage.health = JSON.parse(rest.slice(at + 'CMD '.length)) as readonly string[]
  },
}

/** The variables of a command inside an image; those that npm needs on this machine stay. */
export function environment(env: Readonly<Record<string, string>>, node: string): NodeJS.ProcessEnv {
  const PATH = `${dirname(node)}${delimiter}${process.env['PATH']}`
  return { ...process.env, npm_config_prefer_offline: 'true', ...env, PATH }
}
