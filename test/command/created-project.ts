import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { line } from './line.ts'

/** A project that `create` made, with the packages of this repository and the built command. */
export class CreatedProject {
  readonly home: string

  private constructor(home: string) {
    this.home = home
  }

  static async create(folder: string, template: string, name: string = template): Promise<CreatedProject> {
    const { code, stderr } = await line(['create', name, '--no-install', '--template', template], {
      cwd: folder,
    })
    if (code !== 0) throw new Error(`create ended with ${code}: ${stderr}`)
    const modules = join(folder, name, 'node_modules')
    mkdirSync(join(modules, '.bin'), { recursive: true })
    symlinkSync(resolve('.'), join(modules, 'pierhead'))
    for (const one of ['esbuild', 'typescript', '@types'])
      symlinkSync(resolve('node_modules', one), join(modules, one))
    const project = new CreatedProject(join(folder, name))
    // Only what package.json names is there.
    for (const one of Object.keys(project.manifest.dependencies).filter((name) => name !== 'pierhead'))
      symlinkSync(resolve('node_modules', one), join(modules, one))
    const command = resolve('dist/cli/main.js')
    chmodSync(command, 0o755)
    symlinkSync(command, join(modules, '.bin/pierhead'))
    symlinkSync(resolve('node_modules/typescript/bin/tsc'), join(modules, '.bin/tsc'))
    return project
  }

  get manifest(): {
    readonly name: string
    readonly scripts: Readonly<Record<string, string>>
    readonly dependencies: Readonly<Record<string, string>>
  } {
    return JSON.parse(this.read('package.json'))
  }

  read(path: string): string {
    return readFileSync(join(this.home, path), 'utf8')
  }

  /** Runs a command line in a shell, as a person would. */
  start(text: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
    return spawn('/bin/sh', ['-c', `exec ${text}`], {
      cwd: this.home,
      env: {
        ...process.env,
        NO_COLOR: '1',
        NODE_OPTIONS: '',
        PATH: [join(this.home, 'node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
  }

  /** Runs a command line until it ends. */
  async run(
    text: string,
    env?: Readonly<Record<string, string>>,
  ): Promise<{ readonly code: number; readonly text: string }> {
    const child = this.start(text, env)
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (part: string) => (printed += part))
    const code = await new Promise<number>((done) => child.on('close', (ended) => done(ended ?? -1)))
    return { code, text: printed }
  }

  /** Starts a command line, waits until it prints something, and ends it with all its processes. */
  async until(text: string, pattern: RegExp, env?: Readonly<Record<string, string>>): Promise<string> {
    const child = this.start(text, env)
    let printed = ''
    try {
      await new Promise<void>((found, failed) => {
        child.on('close', (code) => failed(new Error(`${text} ended with ${String(code)}: ${printed}`)))
        for (const stream of [child.stdout, child.stderr])
          stream?.setEncoding('utf8').on('data', (part: string) => {
            printed += part
            if (pattern.test(printed)) found()
          })
      })
      return printed
    } finally {
      if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGTERM')
    }
  }
}
