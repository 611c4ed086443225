import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { parsed, type Message } from '../../src/validate/message.ts'
import type { Address } from '../../src/validate/client/serve.ts'
import type { ClientFault, Quirk } from './client-fault.ts'
import type { Instead } from './fault.ts'

/** A connection of the raw client, which passes messages on with a fault. */
export interface RawLink {
  send(message: Message | readonly Message[]): Promise<void>
  /** Leaves as a well-behaved client does. */
  close(): Promise<void>
}

export interface LinkOptions {
  readonly address: Address
  readonly fault: ClientFault | undefined
  onText(text: string): void
  onClose(): void
}

export function isQuirk(fault: ClientFault | undefined, quirk: Quirk): boolean {
  return fault?.quirk === quirk
}

/** The texts that are sent in the place of a message. */
export function textsOf(
  message: Message | readonly Message[],
  fault: ClientFault | undefined,
): readonly string[] {
  if (Array.isArray(message)) return [JSON.stringify(message)]
  const instead: Instead =
    fault?.message === undefined ? (message as Message) : fault.message(message as Message)
  if (instead === undefined || instead === '') return []
  const all = (Array.isArray(instead) ? instead : [instead]) as readonly (Message | string)[]
  return all.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
}

/** Opens TCP, WebSocket, or stdio in the place of the program that clients usually start. */
export async function openLink(options: LinkOptions): Promise<RawLink> {
  const { address } = options
  if (address.transport === 'ws') return openWs(options)
  if (address.transport === 'tcp') {
    const url = new URL(String(address.url))
    return lines(options, connect({ host: url.hostname, port: Number(url.port) }))
  }
  return openStdio(options)
}

async function lines({ fault, onText, onClose }: LinkOptions, socket: Socket): Promise<RawLink> {
  await once(socket, 'connect')
  onLines(socket, lineOf(fault, onText))
  socket.on('error', () => undefined)
  socket.on('close', onClose)
  return {
    async send(message) {
      for (const text of textsOf(message, fault)) socket.write(`${text}\n`)
    },
    async close() {
      socket.end()
    },
  }
}

async function openStdio({ address, fault, onText, onClose }: LinkOptions): Promise<RawLink> {
  const socket = connect(String(address.command?.at(-1)))
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  socket.on('close', onClose)
  const say = (message: object): void => void socket.write(`${JSON.stringify(message)}\n`)
  let rest = ''
  const read = lineOf(fault, onText)
  onLines(socket, (frame) => {
    const { out, err, exit } = parsed(frame) as { out?: string; err?: string; exit?: number }
    if (err !== undefined && isQuirk(fault, 'breaks on stderr')) socket.destroy()
    if (exit !== undefined) socket.destroy()
    if (out === undefined) return
    const all = (rest + out).split('\n')
    rest = all.pop() ?? ''
    for (const line of all) read(line)
  })
  return {
    async send(message) {
      for (const text of textsOf(message, fault)) say({ in: Buffer.from(`${text}\n`).toString('base64') })
    },
    async close() {
      say({ event: isQuirk(fault, 'kills programs') ? 'SIGTERM' : 'end' })
      if (!socket.destroyed) await once(socket, 'close')
    },
  }
}

/** Reads a line as a tolerant client does, or as one with a fault. */
function lineOf(fault: ClientFault | undefined, onText: (text: string) => void): (line: string) => void {
  let isBroken = false
  return (line) => {
    if (line === '' && isQuirk(fault, 'breaks on a blank line')) isBroken = true
    if (line.endsWith('\r') && isQuirk(fault, 'breaks on carriage returns')) isBroken = true
    if (line !== '' && parsed(line) === undefined && isQuirk(fault, 'breaks on bad lines')) isBroken = true
    if (!isBroken) onText(line)
  }
}

function onLines(socket: Socket, onLine: (line: string) => void): void {
  let rest = ''
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => {
    const all = (rest + chunk).split('\n')
    rest = all.pop() ?? ''
    for (const line of all) onLine(line)
  })
}

async function openWs({ address, fault, onText, onClose }: LinkOptions): Promise<RawLink> {
  const socket = new WebSocket(String(address.url), ['mcp'])
  await once(socket, 'open')
  socket.on('message', (data: Buffer) => onText(data.toString('utf8')))
  socket.on('error', () => undefined)
  socket.on('close', onClose)
  return {
    async send(message) {
      for (const text of textsOf(message, fault)) socket.send(text)
    },
    async close() {
      socket.close()
      if (socket.readyState !== WebSocket.CLOSED) await once(socket, 'close')
    },
  }
}
