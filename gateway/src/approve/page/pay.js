
  // Payments: on cards, and in the view of their own. Amounts come exact, as texts; only drawings are rounded.
  const SHAPES = 'http://www.w3.org/2000/svg';
  const shape = (name, set, look) => {
    const made = document.createElementNS(SHAPES, name);
    for (const [key, value] of Object.entries(set)) made.setAttribute(key, value);
    if (look) made.setAttribute('class', look);
    return made;
  };
  const address = pieces => put(make('p', 'address'), pieces);
  const list_ = (look, items) => { const made = make('ul', look); made.append(...items); return made; };

  /** An amount: as the policy names it, and its smallest units. */
  function amount(own) {
    const made = make('p', 'amount');
    if (own.shown) made.append(put(make('strong'), own.shown), ' ', make('span', 'small', own.units + ' smallest units of '));
    else made.append(make('strong', '', own.units + ' smallest units'), ' ', make('span', 'small', 'no line of the policy says what it is: '));
    made.append(put(make('span', 'small'), own.asset));
    return made;
  }

  /** How much of a budget is used, and with a payment. Each is [for people, smallest units] or nothing. */
  function bar_(most, used, after, said) {
    const drawn = shape('svg', { viewBox: '0 0 1000 14', preserveAspectRatio: 'none', role: 'img', 'aria-label': said }, 'bar');
    const all = Math.max(Number(most[1]), Number((after ?? used)[1]), 1);
    const wide = units => Math.round(1000 * Number(units) / all);
    const rect = (x, width, look) => drawn.append(shape('rect', { x, y: 0, width: Math.max(0, width), height: 14 }, look));
    const end = wide(used[1]);
    rect(0, 1000, 'rest');
    rect(0, end, 'used');
    if (after) rect(end, Math.max(wide(after[1]) - end, Number(after[1]) > Number(used[1]) ? 4 : 0), 'own');
    const limit = wide(most[1]);
    if (limit < 1000) { rect(limit, 1000 - limit, 'over'); rect(limit - 2, 4, 'limit'); }
    return drawn;
  }

  function budgetOf(own) {
    const item = make('li');
    item.append(put(make('strong'), own.says), ' ', put(make('span', 'small'), own.place));
    if (!own.used || !own.after) {
      item.append(make('p', '', 'What was spent of it is not known.'));
      return item;
    }
    const said = own.used[0] + ' is used, ' + own.after[0] + ' with this payment, of ' + own.most[0];
    item.append(bar_(own.most, own.used, own.after, said), make('p', '', said + (own.over ? '. ' : '.')));
    if (own.over) item.lastChild.append(make('strong', 'bad', own.denies ? 'That is too much.' : 'That is more than goes without a person.'));
    return item;
  }

  const PAIRS = {
    seller: ['The seller’s own 402 named another address', 'Named by the 402', 'Of this payment'],
    alike: ['It looks like a payee that is known, and is another', 'Known', 'Of this payment'],
  };
  function pair(own) {
    const [title, theirs, mine] = PAIRS[own.what] ?? ['Compared', 'One', 'Other'];
    const made = make('div', 'pair');
    made.append(make('p', 'bad', title + ': ' + own.differs + ' of ' + own.of + ' characters differ.'));
    made.append(make('p', 'small', theirs), address(own.other), make('p', 'small', mine), address(own.own));
    return made;
  }

  /** What a card says of a payment. */
  function payment(pay) {
    const made = make('div', 'pay');
    const moves = make('div');
    moves.append(...pay.amounts.map(amount));
    if (pay.amounts.length === 0) moves.append(make('p', '', 'It moves nothing that is known.'));
    if (pay.grants) moves.append(put(make('p', 'bad', 'It '), pay.grants));
    section(made, 'Moves', moves);
    const to = make('div');
    to.append(pay.payee ? address(pay.payee) : make('p', '', 'It does not say to whom.'));
    const seen = { same: 'The seller’s own 402 named the same address.', nobody: 'Nobody said whom the seller’s own 402 named.' }[pay.seller];
    if (seen) to.append(make('p', pay.seller === 'nobody' ? 'bad' : 'small', seen));
    to.append(...(pay.compared ?? []).map(pair));
    section(made, 'To', to);
    if (pay.budgets?.length) section(made, 'Budgets that it counts for', list_('budgets', pay.budgets.map(budgetOf)));
    else if (pay.budgets) section(made, 'Budgets that it counts for', make('p', 'bad', 'None: no line limits what may be spent here.'));
    if (pay.now.unknown) made.append(put(make('p', 'bad', 'It cannot be approved now: '), pay.now.unknown));
    if (pay.now.denied) {
      made.append(make('p', 'bad', 'As things are now it would be denied, whatever you answer:'));
      made.append(list_('bad', pay.now.denied.map(reason => put(make('li'), reason))));
    }
    if (pay.texts.unknown) made.append(put(make('p', 'bad', 'What was read before is not known: '), pay.texts.unknown));
    else if (pay.texts.length) section(made, 'What the agent read before', list_('texts', pay.texts.map(readOf)));
    return made;
  }

  function readOf(text) {
    const item = make('li');
    const found = { flagged: 'gives orders to an agent', clear: 'nothing found', unchecked: 'not looked at to its end', 'never filed': 'never filed, so nobody knows what it says' }[text.found];
    const head = make('p');
    if (!empty(text.origin)) head.append(put(make('strong'), text.origin), ': ');
    head.append(make('span', text.found === 'clear' ? '' : 'bad', found));
    if (!empty(text.classes)) head.append(' (', put(make('span'), text.classes), ')');
    if (text.holds) head.append('; it holds payments of this session until ' + hour(text.holds));
    item.append(head);
    for (const piece of text.excerpts) {
      const shown = make('pre');
      if (piece.before) shown.append('… ');
      put(shown, piece.text);
      if (piece.behind) shown.append(' …');
      item.append(make('p', 'agent-said', 'Written by others, not by policy:'), region('Text that was read', shown));
    }
    return item;
  }

  /** The seller's terms as whoever asked stated them. */
  function terms(pay) {
    const made = make('dl', 'facts terms');
    for (const [name, value] of pay.terms) made.append(put(make('dt'), name), put(make('dd'), value));
    return made;
  }

  const titled = pay => {
    const first = pay.amounts[0];
    return ['Payment of ', first ? first.shown ? plain(first.shown) : first.units + ' smallest units' : 'nothing that is known'].join('') + (pay.amounts.length > 1 ? ' and more' : '');
  };

  /** What is known of a payment changed: shown in its place, and the buttons wait again. */
  function changed(card, question) {
    const text = JSON.stringify(question.pay);
    if (!card.open || !question.pay || card.known === text) return;
    card.known = text;
    const fresh = payment(question.pay);
    card.pay.replaceWith(fresh);
    card.pay = fresh;
    disarm(card);
    arm(card);
  }
