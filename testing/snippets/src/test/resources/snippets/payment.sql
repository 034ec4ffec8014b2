create table purchase (id varchar(20) primary key, state varchar(10) not null);
create table payment (
    purchase_id varchar(20) primary key,   -- paid once
    charge varchar(40) not null
);
