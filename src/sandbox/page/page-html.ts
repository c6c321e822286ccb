import { createHash } from 'node:crypto';
import { pageCss } from './page-css.js';
import { pageScript } from './page-script.js';

/** What the page has to know of its surroundings. */
export interface PagePlace {
  /** Where the sandbox is mounted, without slashes at its ends. */
  readonly path: string;
  /** Where the messaging API is mounted, without slashes at its ends. */
  readonly apiPath: string;
}

/**
 * The page's Content-Security-Policy: nothing but its own style and script, which their hashes name, and nobody to talk
 * to but its own server. So a message can do nothing even if it were taken for markup.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src '${hashOf(pageCss)}'`,
  `script-src '${hashOf(pageScript)}'`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The whole page: one document, nothing to load after it. It holds no message; the script asks for those. */
export function pageHtml(place: PagePlace): string {
  return `<!doctype html>
<html lang="fr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Téléphones du bac à sable</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 44 44'%3E%3Crect width='44' height='44' rx='12' fill='%230b6b4f'/%3E%3Cpath fill='%23fff' d='M13 12h18a4 4 0 0 1 4 4v10a4 4 0 0 1-4 4H20l-7 6v-6a4 4 0 0 1-4-4V16a4 4 0 0 1 4-4z'/%3E%3C/svg%3E">
<style>${pageCss}</style>
</head>
<body data-path="${attribute(place.path)}" data-api="${attribute(place.apiPath)}">
<a class="skip" href="#main" data-text="skip">Aller aux téléphones</a>
<header class="top">
  <div class="brand">
    <svg class="mark" viewBox="0 0 44 44" aria-hidden="true" focusable="false">
      <rect width="44" height="44" rx="12"/>
      <path d="M13 12h18a4 4 0 0 1 4 4v10a4 4 0 0 1-4 4H20l-7 6v-6a4 4 0 0 1-4-4V16a4 4 0 0 1 4-4z"/>
    </svg>
    <div>
      <h1 data-text="title">Téléphones du bac à sable</h1>
      <p class="lead" data-text="lead">Ce que vos destinataires verraient. Aucun opérateur, aucun message réel.</p>
    </div>
  </div>
  <div class="tools">
    <p class="state" id="state" role="status" data-state="waiting" data-text="waiting">Connexion…</p>
    <label class="filter"><span data-text="filter">Filtrer par numéro</span>
      <input id="filter" type="search" inputmode="tel" autocomplete="off" spellcheck="false" placeholder="226 70…">
    </label>
  </div>
</header>
<main id="main" tabindex="-1">
  <noscript><p class="card">Cette page a besoin de JavaScript. / This page needs JavaScript.</p></noscript>
  <section class="codes" id="codes" aria-labelledby="codes-title" hidden>
    <h2 id="codes-title" data-text="codesTitle">Codes QR à scanner</h2>
    <ul class="code-list" id="code-list"></ul>
  </section>
  <p class="summary" id="summary"></p>
  <section class="card empty" id="empty" aria-labelledby="empty-title" hidden>
    <h2 id="empty-title" data-text="emptyTitle">Aucun message pour l’instant</h2>
    <p data-text="emptyText">Envoyez le premier : le téléphone du destinataire apparaît ici dès qu’il le reçoit.</p>
    <div class="shell"><pre id="curl" tabindex="0" role="group" aria-labelledby="empty-title"></pre></div>
    <button class="copy" id="copy" type="button" data-text="copy" hidden>Copier la commande</button>
  </section>
  <p class="none" id="none" hidden></p>
  <ul class="phones" id="phones"></ul>
</main>
<footer class="about">
  <details>
    <summary data-text="magicTitle">Numéros qui échouent exprès</summary>
    <dl class="magic">
      <dt>…990001</dt><dd data-text="magic1">refusé pour de bon, remboursé</dd>
      <dt>…990002</dt><dd data-text="magic2">deux erreurs passagères, puis remis</dd>
      <dt>…990003</dt><dd data-text="magic3">accepté, jamais confirmé</dd>
      <dt>…990004</dt><dd data-text="magic4">accepté, puis non remis</dd>
    </dl>
  </details>
  <p class="warning" data-text="warning">Cette page montre les messages et leurs codes à qui l’ouvre : jamais en production.</p>
</footer>
<div class="unseen" id="announce" aria-live="polite"></div>
<script>${pageScript}</script>
</body>
</html>
`;
}

function hashOf(source: string): string {
  return `sha256-${createHash('sha256').update(source).digest('base64')}`;
}

function attribute(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
