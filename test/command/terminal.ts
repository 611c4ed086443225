import { spawnSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { ensureProgram } from '../../tools/programs.ts'

/** A real terminal, in which a test types what a person would. */
export class Terminal implements Disposable {
  readonly #tmux = ensureProgram('tmux')
  readonly #socket: string

  constructor(name: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
    this.#socket = `pierhead-${name}-${process.pid}`
    const variables = Object.entries({ TERM: 'xterm-256color', ...env }).flatMap(([key, value]) => [
      '-e',
      `${key}=${value}`,
    ])
    this.#run(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      '120',
      '-y',
      '200',
      '-c',
      cwd,
      ...variables,
      // A shell that is not interactive, which tmux starts first, drops PS1.
      "env 'PS1=$ ' bash --norc --noprofile",
    )
  }

  /** Types a line. */
  type(text: string): void {
    this.#run('send-keys', '-l', text)
    this.#run('send-keys', 'Enter')
  }

  /** Presses a key, such as `C-c` or `Down`. */
  press(key: string): void {
    this.#run('send-keys', key)
  }

  /** Types a line, waits until the command has ended, and returns the line and what it printed. */
  async run(text: string): Promise<string> {
    const before = await this.#prompts(1)
    this.type(text)
    const after = await this.#prompts(before.length + 1)
    return this.screen.split('\n').slice(before.at(-1), after.at(-1)).join('\n')
  }

  /** Waits until the screen has so many prompts, and the last is empty. Returns their lines. */
  async #prompts(least: number): Promise<readonly number[]> {
    const linesOf = (screen: string): readonly number[] =>
      screen.split('\n').flatMap((line, index) => (line === '$' || line.startsWith('$ ') ? [index] : []))
    const screen = await this.shows((now) => linesOf(now).length >= least && /(?:^|\n)\$$/.test(now))
    return linesOf(screen)
  }

  /** What the screen shows. Lines that the terminal broke are whole. */
  get screen(): string {
    return this.#run('capture-pane', '-p', '-J', '-S', '-')
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd()
  }

  /** Waits until the screen shows something. The bound only ends a hang; it is long, because the machine may be busy. */
  async shows(pattern: RegExp | string | ((screen: string) => boolean)): Promise<string> {
    const until = Date.now() + 300_000
    const isShown = (screen: string): boolean => {
      if (typeof pattern === 'function') return pattern(screen)
      return typeof pattern === 'string' ? screen.includes(pattern) : pattern.test(screen)
    }
    for (;;) {
      const { screen } = this
      if (isShown(screen)) return screen
      if (Date.now() > until) throw new Error(`the terminal does not show ${String(pattern)}:\n${screen}`)
      await setTimeout(200)
    }
  }

  [Symbol.dispose](): void {
    spawnSync(this.#tmux, ['-L', this.#socket, 'kill-server'])
  }

  #run(...args: readonly string[]): string {
    const { stdout, stderr, status } = spawnSync(this.#tmux, ['-L', this.#socket, ...args], {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`tmux ${args[0] ?? ''} failed: ${stderr}`)
    return stdout
  }
}
