create table item (sku varchar(20) primary key, amount int not null check (amount >= 0));
create table item_order (
    sku varchar(20) not null,
    buyer varchar(40) not null,
    primary key (sku, buyer)   -- one for each buyer
);
