import { render } from 'preact';
import { App } from './shell/app.js';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/forced.css';

const root = document.getElementById('app');
if (root) render(<App />, root);
