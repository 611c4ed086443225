import type { LoginRequest } from './authorize.ts'
import { isLocalOnly } from './clients.ts'
import { PATHS } from './discovery.ts'
import { randomText } from '../digests.ts'
import type { Users } from './users.ts'
import { parseUrl } from '../../protocol/url.ts'

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 30rem; margin: 3rem auto; padding: 0 1rem; }
  h1 { font-size: 1.4rem; }
  fieldset { border: 1px solid #8886; border-radius: .5rem; margin: 1rem 0; padding: .5rem 1rem 1rem; }
  label { display: block; margin: .3rem 0; }
  input[type=text] { font: inherit; padding: .3rem .5rem; width: 100%; box-sizing: border-box; }
  button { font: inherit; padding: .5rem 1.2rem; border-radius: .4rem; border: 1px solid #8886; cursor: pointer; }
  button[value=allow] { background: #1f5fbf; border-color: #1f5fbf; color: #fff; }
  code { overflow-wrap: anywhere; }
  .note { border-left: 4px solid #c80; padding-left: .8rem; }
  small { opacity: .8; }`

/** A page of the authorization server. No other page may show it in a frame, and it runs no script. */
function pageOf(title: string, body: string, formAction: string = "'none'", status: number = 200): Response {
  const nonce = randomText(16)
  const policy = {
    'default-src': "'none'",
    'style-src': `'nonce-${nonce}'`,
    'form-action': formAction,
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
  }
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<h1>${escape(title)}</h1>
${body}
<p><small>This login is for development only: it asks for no password.</small></p>
</body>
</html>
`
  const directives = Object.entries(policy).map(([name, value]) => `${name} ${value}`)
  return new Response(html, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': directives.join('; ') },
  })
}

/** The page where a user chooses who to be, and what the client may do. */
export function loginPage(login: LoginRequest, users: Users, ticket: string): Response {
  const { client, redirectUri, resource, scopes } = login
  const name = client.name === '' ? 'A client without a name' : client.name
  const origin = originOf(redirectUri)
  const body = `<p><strong>${escape(name)}</strong> asks for access to <code>${escape(resource)}</code>.</p>
<p>${client.host === undefined ? 'It registered itself' : `It is described by <code>${escape(client.host)}</code>`}, and you will be sent to <code>${escape(origin)}</code>.</p>
${isLocalOnly(client) ? '<p class="note">Any program on this computer could pretend to be this client. Continue only if you started it.</p>' : ''}
<form method="post" action="${PATHS.consent}">
<input type="hidden" name="ticket" value="${escape(ticket)}">
<fieldset><legend>Log in as</legend>
${users.listed.map(({ sub, name: shown = sub }, at) => choice('radio', 'user', sub, shown, at === 0)).join('\n')}
${users.takesAnyone ? '<label>or someone else <input type="text" name="other" maxlength="255" autocomplete="off"></label>' : ''}
</fieldset>
<fieldset><legend>Allow</legend>
${scopes.length === 0 ? '<p>The client asks for no scopes.</p>' : scopes.map((scope) => choice('checkbox', 'scope', scope, scope, true)).join('\n')}
</fieldset>
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button>
</form>`
  // Browsers apply the policy to the redirect after the form, too.
  return pageOf('Log in', body, `'self' ${origin}`)
}

/** The page for requests that cannot be answered with a redirect. */
export function errorPage(message: string, status: number): Response {
  return pageOf('This login cannot continue', `<p>${escape(message)}</p>`, undefined, status)
}

function choice(type: string, name: string, value: string, text: string, isChosen: boolean): string {
  const chosen = isChosen ? ' checked' : ''
  return `<label><input type="${type}" name="${name}" value="${escape(value)}"${chosen}> ${escape(text)}</label>`
}

/** The origin of a redirect URI, in the form of a policy; only the scheme for apps that have their own. */
function originOf(uri: string): string {
  const { origin, protocol } = parseUrl(uri)
  return origin === 'null' ? protocol : origin
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
