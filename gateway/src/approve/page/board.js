
  // The view of payments.
  const board = document.getElementById('board');
  const views = document.getElementById('views');
  const [showQuestions, showPayments] = views.querySelectorAll('button');
  const EVERY = 3000;
  let drawn = '';
  let asking = false;
  const shows = () => !board.hidden;

  function view(payments) {
    board.hidden = !payments;
    document.getElementById('questions').hidden = payments;
    showPayments.setAttribute('aria-pressed', String(payments));
    showQuestions.setAttribute('aria-pressed', String(!payments));
    scrollTo(0, 0);
    again();
    if (payments) look();
  }
  showQuestions.addEventListener('click', () => view(false));
  showPayments.addEventListener('click', () => view(true));

  async function look() {
    if (asking || !token || !shows() || document.visibilityState !== 'visible') return;
    asking = true;
    try {
      const reply = await send('/payments');
      if (reply.status === 401 || reply.status === 403) lost();
      else draw(await reply.json());
    } catch {
      board.setAttribute('aria-busy', 'true');
    }
    asking = false;
  }
  setInterval(look, EVERY);
  document.addEventListener('visibilitychange', look);

  const moment = time => new Date(time).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
  const part = (title, ...content) => {
    const made = make('section', 'card');
    const head = make('h2', '', title);
    head.id = 'part-' + title.toLowerCase().replaceAll(' ', '-');
    made.setAttribute('aria-labelledby', head.id);
    made.append(head, ...content);
    return made;
  };
  const nothing = text => make('p', 'small', text);

  function draw(told) {
    const { now, ...rest } = told;
    const text = JSON.stringify(rest);
    board.removeAttribute('aria-busy');
    if (text === drawn) return;
    drawn = text;
    const file = put(make('p', 'small', 'Ledger: '), told.ledger ?? []);
    if (told.error || told.fault) {
      const why = make('p', 'bad', 'The ledger cannot be read, so no payment is allowed: ');
      board.replaceChildren(part('Payments', told.fault ? put(why, told.fault) : make('p', 'bad', told.error), file));
      return;
    }
    const held = document.activeElement?.dataset.part;
    board.replaceChildren(
      part('Budgets', ...budgets(told.budgets)),
      part('Spent or reserved in the last 14 days', ...days(told.days)),
      part('Reserved', ...holds(told.open)),
      part('Last decisions', told.decisions.length ? list_('decisions', told.decisions.map(decisionOf)) : nothing('No payment was decided yet.')),
      part('Settings', ...settings(told.settings), file),
    );
    if (held) board.querySelector('[data-part="' + held + '"]')?.focus({ preventScroll: true });
  }

  function budgets(all) {
    if (all.length === 0) return [make('p', 'bad', 'No line of your policies limits what may be spent.')];
    return [list_('budgets', all.map(own => {
      const item = make('li');
      item.append(put(make('strong'), own.says), ' ', put(make('span', 'small'), own.place));
      if (own.fault) item.append(put(make('p', 'bad', 'What was spent cannot be told: '), own.fault));
      else if (own.rows.length === 0) item.append(nothing('Nothing was spent.'));
      for (const row of own.rows) {
        const share = Number(row.used[1]) / Math.max(1, Number(own.most[1]));
        const said = row.used[0] + ' of ' + own.most[0] + ', ' + Math.floor(100 * share) + '%';
        const line = make('p');
        if (row.who) line.append(own.by + ' ', put(make('span', 'address'), row.who), ': ');
        line.append(said);
        item.append(line, bar_(own.most, row.used, undefined, said));
      }
      if (own.by) item.append(nothing('By ' + own.by + '; the five that spent most' + (own.cut ? ', of the last 5,000 movements' : '') + '.'));
      return item;
    }))];
  }

  function days(told) {
    const out = [];
    for (const { asset, days } of told.assets) {
      const most = Math.max(...days.map(day => Number(day.amount.units)), 1);
      const named = own => own.amount.shown ? plain(own.amount.shown) : own.amount.units + ' smallest units';
      const top = days.reduce((one, other) => Number(other.amount.units) > Number(one.amount.units) ? other : one);
      const said = 'Each day from ' + days[0].day + ' to ' + days.at(-1).day + '; the most was ' + named(top) + ' on ' + top.day;
      const chart = shape('svg', { viewBox: '0 0 ' + days.length * 40 + ' 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': said }, 'days');
      days.forEach((day, at) => {
        const share = Number(day.amount.units) / most;
        const height = share > 0 ? Math.max(2, Math.round(96 * share)) : 0;
        chart.append(shape('rect', { x: at * 40 + 4, y: 99, width: 32, height: 1 }, 'rest'));
        const drawn = shape('rect', { x: at * 40 + 4, y: 100 - height, width: 32, height }, 'used');
        const title = shape('title', {});
        title.textContent = day.day + ': ' + named(day);
        drawn.append(title);
        chart.append(drawn);
      });
      const table = make('table');
      const row = (...cells) => { const made = make('tr'); made.append(...cells); return made; };
      const cell = (name, text) => { const made = make(name, '', text); if (name === 'th') made.scope = 'row'; return made; };
      table.append(...days.filter(day => day.amount.units !== '0').map(day => row(cell('th', day.day), cell('td', named(day)))));
      const numbers = make('details');
      const summary = make('summary', '', 'Numbers');
      summary.dataset.part = 'numbers ' + plain(asset);
      numbers.append(summary, table);
      numbers.open = board.querySelector('[data-part="' + CSS.escape(summary.dataset.part) + '"]')?.parentElement.open ?? false;
      out.push(put(make('p', 'small'), asset), chart, make('p', 'small', said + ' (UTC).'), numbers);
    }
    if (out.length === 0) out.push(nothing('Nothing was paid.'));
    if (told.cut) out.push(nothing('Only the last 5,000 movements are added up.'));
    return out;
  }

  const WORDS = {
    allowed: ['allow', 'allowed'], denied: ['deny', 'denied'], review_pending: ['ask', 'waits for you'],
    review_approved: ['allow', 'approved by a person'], review_denied: ['deny', 'denied by a person'], review_expired: ['', 'nobody answered'],
  };
  const word = status => { const [look, text] = WORDS[status] ?? ['', status]; return make('span', 'word ' + look, text); };

  function holds(told) {
    if (told.count === 0) return [nothing('Nothing is reserved.')];
    const all = told.holds.map(own => {
      const item = make('li');
      item.append(word(own.status), make('span', 'small', ' ' + moment(own.at)), amount(own.amount));
      if (own.payee) item.append(address(own.payee));
      return item;
    });
    const more = (told.cut ? 'At least ' : '') + told.count + ' reserved and not known to be paid; they count for their budgets.';
    return [make('p', 'small', more + (told.count > all.length ? ' The newest ' + all.length + ':' : '')), list_('decisions', all)];
  }

  function decisionOf(own) {
    const item = make('li');
    item.append(word(own.status), make('span', 'small', ' ' + moment(own.at)));
    if (own.would) item.append(make('p', 'bad', 'Only observed; it would be: ' + (WORDS[own.would]?.[1] ?? own.would)));
    item.append(...own.amounts.map(amount));
    if (own.payee) item.append(address(own.payee));
    if (own.url) item.append(put(make('p', 'small'), own.url));
    item.append(...own.reasons.map(reason => {
      const line = put(make('p'), reason.sentence);
      line.append(' ', put(make('span', 'small'), reason.rule));
      return line;
    }));
    if (own.transaction) item.append(put(make('p', 'small', 'Transaction '), own.transaction));
    item.append(put(make('p', 'small', 'Session '), own.session), make('p', 'small', own.id));
    return item;
  }

  function settings(all) {
    const out = [make('p', 'small', 'As the policy files say; they are changed there, not here.')];
    for (const own of all) {
      out.push(put(make('h3'), own.name));
      if (own.fault) { out.push(put(make('p', 'bad', 'It cannot be used, and nothing is allowed: '), own.fault)); continue; }
      if (own.observes) out.push(make('p', 'bad', 'It only observes: what it would refuse is let through, but for wrong networks, assets and payees.'));
      out.push(list_('lines', own.lines.map(([text, place]) => {
        const item = put(make('li'), text);
        item.append(' ', put(make('span', 'small'), place));
        return item;
      })));
    }
    if (all.length === 0) out.push(make('p', 'bad', 'No line of your policies looks at payments.'));
    return out;
  }
